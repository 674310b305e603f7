package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// importOptions are the flags of import.
type importOptions struct {
	files  []string
	graph  string
	format string
	dryRun bool
	json   bool
	set    *config.Set
}

// newImportCmd makes "banyan import"; runF replaces what it does, in tests.
func newImportCmd(a *app, runF func(context.Context, *importOptions) error) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Import runtimes, capabilities and bundles",
		Long: `Put each file into one named graph, all or nothing; importing it again replaces that
graph. With - the declarations are read from standard input, which needs --graph.`,
		Example: "  banyan import examples/python-science.ttl",
		Args:    between(1, 1000, "at least one FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.files = args
			if err := o.check(cmd); err != nil {
				return err
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.importFiles(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.graph, "graph", "", "IRI of the graph to replace (default: by the file's name)")
	f.StringVar(&o.format, "format", "", "turtle, ntriples or json (default: by the file's ending)")
	f.BoolVar(&o.dryRun, "dry-run", false, "check only, change nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// check refuses files that would replace each other.
func (o *importOptions) check(cmd *cobra.Command) error {
	switch o.format {
	case "", "turtle", "ntriples", "json":
	default:
		return usage(cmd, "--format %q is not one of turtle, ntriples, json", o.format)
	}
	if o.graph != "" && len(o.files) > 1 {
		return usage(cmd, "--graph takes one file: each further one would replace it")
	}
	names := map[string]string{}
	for _, path := range o.files {
		if path == "-" && o.graph == "" {
			return usage(cmd, "standard input has no name, so --graph is needed")
		}
		name := filepath.Base(path)
		if other, ok := names[name]; ok {
			return usage(cmd, "%s and %s have one name, so the second would replace the first: give each its --graph", other, path)
		}
		names[name] = path
	}
	return nil
}

// importFiles imports one file after the other and stops at the first that is
// refused. Those before it stay, and are printed.
func (a *app) importFiles(ctx context.Context, o *importOptions) error {
	return a.using(ctx, o.set, func(b backend) error {
		var reports []banyan.ImportReport
		var err error
		for _, path := range o.files {
			var rep banyan.ImportReport
			if rep, err = a.importFile(ctx, b, o, path); err != nil {
				break
			}
			reports = append(reports, rep)
			if o.json {
				continue
			}
			if err = a.printImport(rep); err != nil {
				break
			}
		}
		if o.json {
			if perr := a.printJSON(list(reports)); err == nil {
				err = perr
			}
		}
		return err
	})
}

func (a *app) importFile(ctx context.Context, b backend, o *importOptions, path string) (banyan.ImportReport, error) {
	opt := banyan.ImportOptions{Graph: ontology.IRI(o.graph), Format: o.format, DryRun: o.dryRun}
	if path == "-" {
		return b.Import(ctx, a.stdin, opt)
	}
	opt.Name = filepath.Base(path)
	f, err := os.Open(path)
	if err != nil {
		return banyan.ImportReport{}, openError(path, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.IsDir() {
		return banyan.ImportReport{}, errs.New(errs.Invalid, "%s is a folder and no file", path)
	}
	return b.Import(ctx, io.Reader(f), opt)
}

// printImport prints what an import did: on a terminal a sentence, else the
// graph, its triples, those it replaced, runtimes, capabilities, bundles.
func (a *app) printImport(r banyan.ImportReport) error {
	if !a.tty {
		return a.printf("%s\t%d\t%d\t%d\t%d\t%d\n", cleanLine(string(r.Graph)), r.Triples, r.Replaced, r.Runtimes, r.Capabilities, r.Bundles)
	}
	did := "imported"
	if r.DryRun {
		did = "would import"
	}
	before := ""
	if r.Replaced > 0 {
		before = fmt.Sprintf(", in place of %d", r.Replaced)
	}
	return a.printf("%s %s%s: %s, %s, %s\ngraph %s\n", did, count(r.Triples, "triple", "triples"), before,
		count(r.Runtimes, "runtime", "runtimes"), count(r.Capabilities, "capability", "capabilities"),
		count(r.Bundles, "bundle", "bundles"), cleanLine(string(r.Graph)))
}
