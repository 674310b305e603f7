package kg

import (
	"context"
	"io"
	"path"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// ImportOptions say how a file is imported.
type ImportOptions struct {
	// Name is the file's name, for messages, for the graph and for the format.
	Name string
	// Graph is the named graph to replace; "" makes one of the base name of Name.
	Graph ontology.IRI
	// Base is what relative IRIs resolve against; without one they are faults.
	Base string
	// Format is "turtle", "ntriples" or "json", a manifest; "" goes by the
	// ending of Name, and without one that is known it is Turtle.
	Format string
	// DryRun reads and checks, and changes nothing.
	DryRun bool
	// Limits bound the file; what is zero takes the import's own default
	// (32 MiB, a quarter of a million triples).
	Limits ttl.Limits
}

// ImportReport says what an import did, or would do.
type ImportReport struct {
	Graph        ontology.IRI
	Triples      int // what the graph holds now
	Replaced     int // what it held before
	Runtimes     int
	Capabilities int // modules and others that are not bundles
	Bundles      int
	DryRun       bool
}

// ImportTurtle reads a file of capabilities, checks it against the ontology,
// and puts it into its named graph in place of what that holds: all or
// nothing. Importing the same file again writes nothing. A file that cannot
// be read or does not fit is refused with Invalid, or TooLarge, and Parts that
// say where (file:line:column) and why. Banyan's own graphs are Denied.
func (s *Store) ImportTurtle(ctx context.Context, src io.Reader, o ImportOptions) (ImportReport, error) {
	o, read, err := o.settle()
	if err != nil {
		return ImportReport{}, err
	}
	d, err := read(ctx, src)
	if err != nil {
		return ImportReport{}, err
	}
	c, err := checkShapes(ctx, d, s.View().decl)
	if err != nil {
		return ImportReport{}, err
	}
	report := ImportReport{Graph: o.Graph, DryRun: o.DryRun}
	c.count(&report)
	if o.DryRun {
		n, err := s.Count(ctx, ttl.Quad{G: iri(o.Graph)})
		report.Triples, report.Replaced = d.distinct(), int(n)
		return report, err
	}
	same, err := s.holds(ctx, o.Graph, d)
	if err != nil {
		return ImportReport{}, err
	}
	if same {
		report.Triples = d.distinct()
		report.Replaced = report.Triples
		return report, nil
	}
	report.Triples, report.Replaced, err = s.ReplaceGraph(ctx, o.Graph, d.triples())
	return report, err
}

// settle checks the options and fills in what they leave open.
func (o ImportOptions) settle() (ImportOptions, documentReader, error) {
	if o.Graph == "" {
		if o.Name == "" {
			return o, nil, errs.New(errs.Invalid, "an import needs a graph, or a file name to make one of")
		}
		o.Graph = ontology.ImportGraph(path.Base(o.Name))
	}
	if err := checkTerm(iri(o.Graph)); err != nil {
		return o, nil, errs.New(errs.Invalid, "%s cannot name a graph, since it is not an absolute IRI", quote(string(o.Graph)))
	}
	if err := own(o.Graph); err != nil {
		return o, nil, err
	}
	if o.Base != "" && !ttl.ValidIRI(o.Base) {
		return o, nil, errs.New(errs.Invalid, "the base %s is not an absolute IRI", quote(o.Base))
	}
	if err := o.Limits.Validate(); err != nil {
		return o, nil, err
	}
	o.Limits = withImportLimits(o.Limits)
	read, err := o.reader()
	return o, read, err
}

// documentReader reads a whole file into memory.
type documentReader func(ctx context.Context, src io.Reader) (*document, error)

// reader returns what reads the file's format.
func (o ImportOptions) reader() (documentReader, error) {
	if o.Format == manifestFormat || o.Format == "" && path.Ext(o.Name) == "."+manifestFormat {
		return func(ctx context.Context, src io.Reader) (*document, error) {
			return readManifest(ctx, src, o.Name, o.Limits.Triples)
		}, nil
	}
	format, err := o.format()
	return func(ctx context.Context, src io.Reader) (*document, error) {
		return readDocument(ctx, src, o.Name, ttl.Options{Format: format, Base: o.Base, Limits: o.Limits})
	}, err
}

// manifestFormat is the name of the format of manifests, and their ending.
const manifestFormat = "json"

// format returns the format of the file.
func (o ImportOptions) format() (ttl.Format, error) {
	if o.Format == "" {
		format, ok := ttl.FormatByName(path.Ext(o.Name))
		if !ok {
			format = ttl.Turtle
		}
		return format, nil
	}
	format, ok := ttl.FormatByName(o.Format)
	if !ok || format == ttl.NQuads {
		return 0, errs.New(errs.Unsupported, "%s is not a format that can be imported", quote(o.Format)).
			WithHint("use turtle, ntriples or json")
	}
	return format, nil
}
