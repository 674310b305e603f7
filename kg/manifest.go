package kg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/internal/nearest"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// A manifest is a JSON object, or a list of them, that declares one runtime
// with its modules and bundles. It becomes the statements that a Turtle file
// would make of the same, each with the place of the member that says it, and
// is checked as those are.
type manifest struct {
	tree    *jsonTree
	doc     *document
	max     int64 // statements
	runtime ttl.Term
	ns      ontology.IRI // of the module's names
	cells   int          // of RDF lists, numbered through the document
}

// readManifest reads a manifest into a document.
func readManifest(ctx context.Context, src io.Reader, name string, maxTriples int64) (*document, error) {
	d := &document{name: name, ids: map[ttl.Term]uint32{}}
	tree, root, err := readJSON(ctx, src)
	m := &manifest{tree: tree, doc: d, max: maxTriples}
	if err == nil {
		err = m.root(root)
	}
	var fault *jsonFault
	if errors.As(err, &fault) {
		where := d.place(tree.place(fault.at))
		return nil, errs.Wrap(errs.Invalid, err, "%s: %s", where, fault.text).WithParts(errs.Part{Pointer: where, Detail: fault.text})
	}
	return d, err
}

// root reads one manifest or a list of them.
func (m *manifest) root(n *jsonNode) error {
	if n.kind != '[' {
		return m.object(n)
	}
	for _, item := range n.items {
		if err := m.object(item); err != nil {
			return err
		}
	}
	return nil
}

// say adds a statement that stands at an offset.
func (m *manifest) say(at int, s ttl.Term, p ontology.IRI, o ttl.Term) error {
	if int64(len(m.doc.rows)) >= m.max {
		return &jsonFault{at, fmt.Sprintf("the file makes more than %d statements", m.max)}
	}
	line, column := m.tree.place(at)
	m.doc.rows = append(m.doc.rows, docRow{m.doc.id(s), m.doc.id(iri(p)), m.doc.id(o), int32(line), int32(column)})
	return nil
}

// field reads one member of an object about a subject.
type field func(m *manifest, s ttl.Term, n *jsonNode) error

// runtimeFields are the members of a manifest.
var runtimeFields = map[string]field{
	"name":            nothing,
	"language":        text1(ontology.PropLanguage),
	"version":         text1(ontology.PropVersion),
	"label":           text1(ontology.RDFSLabel),
	"executable":      text1(ontology.PropExecutable),
	"args":            (*manifest).args,
	"aliases":         textMany(ontology.PropAlias),
	"preimport":       capabilities(ontology.PropPreimports),
	"namespace":       (*manifest).namespace,
	"standardModules": (*manifest).standardModules,
	"defaultLimits":   (*manifest).limits,
	"capabilities":    (*manifest).modules,
	"bundles":         (*manifest).bundles,
}

// capabilityFields are those of a module and of a bundle.
var capabilityFields = map[string]field{
	"name":       nothing,
	"label":      text1(ontology.RDFSLabel),
	"version":    text1(ontology.PropVersion),
	"importName": text1(ontology.PropImportName),
	"implies":    capabilities(ontology.PropImplies),
	"warmMillis": number1(ontology.PropWarmMillis),
}

// limitFields are those of defaultLimits, named as in a job.
var limitFields = map[string]field{
	"wall_ms":      number1(ontology.PropDefaultWallMillis),
	"cpu_ms":       number1(ontology.PropDefaultCPUMillis),
	"memory_bytes": number1(ontology.PropDefaultMemoryBytes),
	"pids":         number1(ontology.PropDefaultPIDs),
	"output_bytes": number1(ontology.PropDefaultOutputBytes),
	"files_bytes":  number1(ontology.PropDefaultFilesBytes),
}

// nothing is the field of a member that was read already.
func nothing(*manifest, ttl.Term, *jsonNode) error { return nil }

// read reads the members of an object, in their order. An unknown one is a
// fault that names the nearest that is known.
func (m *manifest) read(n *jsonNode, s ttl.Term, fields map[string]field, what string) error {
	if n.kind != '{' {
		return &jsonFault{n.at, what + " is an object"}
	}
	for _, x := range n.members {
		f, ok := fields[x.name]
		if !ok {
			known := make([]string, 0, len(fields))
			for name := range fields {
				known = append(known, name)
			}
			text := what + " has no member " + quote(x.name)
			if near := nearest.Of(x.name, sorted(known)); near != "" {
				text += "; did you mean " + quote(near) + "?"
			}
			return &jsonFault{x.at, text}
		}
		if err := f(m, s, x.value); err != nil {
			return err
		}
	}
	return nil
}

// object reads one manifest.
func (m *manifest) object(n *jsonNode) error {
	if n.kind != '{' {
		return &jsonFault{n.at, "a manifest is an object, or a list of them"}
	}
	language, at, err := m.string(n, "language")
	if err != nil {
		return err
	}
	if language == "" {
		return &jsonFault{at, "a manifest needs the member \"language\""}
	}
	name, _, err := m.string(n, "name")
	if err != nil {
		return err
	}
	if name == "" {
		version, _, err := m.string(n, "version")
		if err != nil {
			return err
		}
		if name = language; version != "" {
			name += "-" + version
		}
	}
	id := ontology.RuntimeID(name)
	if !id.Valid() {
		return &jsonFault{at, quote(name) + " is not the name of a runtime: letters, digits, '.', '_' and '-'"}
	}
	ns, _, err := m.string(n, "namespace")
	if err != nil {
		return err
	}
	if m.ns = ontology.IRI(ns); ns == "" {
		m.ns = namespaceFor(language)
	}
	m.runtime = iri(id.IRI())
	if err := m.say(n.at, m.runtime, ontology.RDFType, iri(ontology.ClassRuntime)); err != nil {
		return err
	}
	if program, _, err := m.string(n, "executable"); err != nil || program == "" {
		if err == nil {
			err = m.say(n.at, m.runtime, ontology.PropExecutable, ttl.NewString(defaultProgram(language)))
		}
		if err != nil {
			return err
		}
	}
	return m.read(n, m.runtime, runtimeFields, "a manifest")
}

// defaultProgram is what starts a language whose manifest does not say.
func defaultProgram(language string) string {
	if language == "python" {
		return "python3"
	}
	return language
}

// string returns a member's text, "" if there is none, and where it stands.
func (m *manifest) string(n *jsonNode, name string) (string, int, error) {
	for _, x := range n.members {
		if x.name == name {
			s, err := textOf(x.value)
			return s, x.value.at, err
		}
	}
	return "", n.at, nil
}

// textOf returns a string that is not empty and no NUL in it.
func textOf(n *jsonNode) (string, error) {
	s, ok := n.value.(string)
	if !ok || n.kind != 0 {
		return "", &jsonFault{n.at, "this is a string"}
	}
	if s == "" || strings.ContainsRune(s, 0) {
		return "", &jsonFault{n.at, "this is a string that is not empty"}
	}
	return s, nil
}

// list calls fn with the items of a list.
func list(n *jsonNode, fn func(*jsonNode) error) error {
	if n.kind != '[' {
		return &jsonFault{n.at, "this is a list"}
	}
	for _, item := range n.items {
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}

// number of a datatype as Turtle reads the same digits.
func numberOf(n *jsonNode) (ttl.Term, error) {
	x, ok := n.value.(json.Number)
	if !ok || n.kind != 0 {
		return ttl.Term{}, &jsonFault{n.at, "this is a number"}
	}
	switch text := x.String(); {
	case strings.ContainsAny(text, "eE"):
		return ttl.NewTyped(text, ttl.XSDDouble), nil
	case strings.Contains(text, "."):
		return ttl.NewTyped(text, ttl.XSDDecimal), nil
	default:
		return ttl.NewTyped(text, ttl.XSDInteger), nil
	}
}
