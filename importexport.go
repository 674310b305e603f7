package banyan

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// Import puts one file of declarations into one graph, all or nothing;
// importing again replaces that graph, unless the options say to merge. What
// does not fit the vocabulary is refused with its place, and the graph stays as
// it was.
func (e *Engine) Import(ctx context.Context, r io.Reader, o ImportOptions) (ImportReport, error) {
	if e.closing.Load() {
		return ImportReport{}, errClosing()
	}
	switch {
	case o.Unnamed && o.Graph != "":
		return ImportReport{}, errs.New(errs.Invalid, "an import goes into a named graph or the unnamed one, not both")
	case o.Merge && o.Graph == "" && !o.Unnamed:
		return ImportReport{}, errs.New(errs.Invalid, "a merge needs a graph")
	case o.Graph == "" && o.Name == "" && !o.Unnamed:
		return ImportReport{}, errs.New(errs.Invalid, "an import needs a graph or a file name")
	}
	name := "document" // what errors call it
	if o.Name != "" {
		name = path.Base(strings.ReplaceAll(o.Name, `\`, "/"))
	}
	if o.Merge || o.Unnamed {
		return e.importInto(ctx, r, name, o)
	}
	rep, err := e.store.ImportTurtle(ctx, r, kg.ImportOptions{Name: name, Graph: o.Graph, Format: o.Format, DryRun: o.DryRun})
	if err != nil {
		return ImportReport{}, err
	}
	e.cannot.clear() // what could not be loaded may now be declared otherwise
	return ImportReport{
		Graph: rep.Graph, Triples: rep.Triples, Replaced: rep.Replaced, Runtimes: rep.Runtimes,
		Capabilities: rep.Capabilities, Bundles: rep.Bundles, DryRun: o.DryRun,
	}, nil
}

// Export writes one graph, or all of them, to w.
func (e *Engine) Export(ctx context.Context, w io.Writer, o ExportOptions) error {
	if e.closing.Load() {
		return errClosing()
	}
	format := ttl.Turtle
	if o.Format != "" {
		var ok bool
		if format, ok = ttl.FormatByName(o.Format); !ok {
			return invalidAt("/format", "%q is not a format; known: turtle, ntriples, nquads", o.Format)
		}
	}
	if o.Unnamed {
		return e.exportUnnamed(ctx, w, format)
	}
	return e.store.Export(ctx, w, o.Graph, format)
}
