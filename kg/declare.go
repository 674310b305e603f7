package kg

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// declaring are the properties that describe runtimes and capabilities.
var declaring = []ontology.IRI{
	ontology.RDFType, ontology.RDFSLabel, ontology.PropImplies, ontology.PropImportName, ontology.PropWarmMillis,
	ontology.PropLanguage, ontology.PropVersion, ontology.PropExecutable, ontology.PropArguments,
	ontology.PropCapabilityNamespace, ontology.PropStandardModules, ttl.RDFFirst, ttl.RDFRest,
	ontology.PropAlias, ontology.PropPreimports, ontology.PropDefaultWallMillis, ontology.PropDefaultCPUMillis,
	ontology.PropDefaultMemoryBytes, ontology.PropDefaultPIDs, ontology.PropDefaultOutputBytes, ontology.PropDefaultFilesBytes,
}

// facts are what one graph says, by subject and property.
type facts map[ttl.Term]map[ontology.IRI][]ttl.Term

// declared reads what the graphs declare, but for the snapshots' one.
func (r *ReadTx) declared() (*declared, error) {
	names, err := r.Graphs()
	if err != nil {
		return nil, err
	}
	d := &declared{runtimes: map[ontology.RuntimeID]Runtime{}, caps: map[ontology.Capability]Capability{}}
	for _, g := range byPrecedence(names) {
		f, err := r.factsOf(g)
		if err != nil {
			return nil, err
		}
		for s, about := range f {
			d.addRuntime(f, s, about)
			d.addCapability(s, about, g == ontology.GraphHost)
		}
	}
	d.nameAliases()
	return d, nil
}

// byPrecedence orders graphs as they are believed: imported ones by name, then
// the host's, then the built-in one. The snapshots' graph declares nothing.
func byPrecedence(names []ontology.IRI) (out []ontology.IRI) {
	var last []ontology.IRI
	for _, g := range names {
		switch g {
		case ontology.GraphSnapshots, ontology.GraphBuiltin:
		case ontology.GraphHost:
			last = append(last, g)
		default:
			out = append(out, g)
		}
	}
	out = append(out, last...)
	return append(out, ontology.GraphBuiltin)
}

// factsOf reads the declaring properties of one graph.
func (r *ReadTx) factsOf(g ontology.IRI) (facts, error) {
	f := facts{}
	for _, p := range declaring {
		for q, err := range r.Match(ttl.Quad{P: iri(p), G: iri(g)}) {
			if err != nil {
				return nil, err
			}
			if f[q.S] == nil {
				f[q.S] = map[ontology.IRI][]ttl.Term{}
			}
			f[q.S][p] = append(f[q.S][p], q.O)
		}
	}
	return f, nil
}

// text returns the first value of a property, "" if there is none. Where a
// graph gives several, the first by text counts, so that the answer does not
// depend on the order of reading.
func text(about map[ontology.IRI][]ttl.Term, p ontology.IRI) string {
	if len(about[p]) == 0 {
		return ""
	}
	return slices.MinFunc(about[p], func(a, b ttl.Term) int { return strings.Compare(a.Value, b.Value) }).Value
}

// is reports whether a subject has a class.
func is(about map[ontology.IRI][]ttl.Term, class ontology.IRI) bool {
	return slices.Contains(about[ontology.RDFType], iri(class))
}

// addRuntime takes a runtime, unless a graph that is believed more has it.
func (d *declared) addRuntime(f facts, s ttl.Term, about map[ontology.IRI][]ttl.Term) {
	id, ok := ontology.RuntimeOf(ontology.IRI(s.Value))
	if !ok || s.Kind != ttl.IRI || !is(about, ontology.ClassRuntime) {
		return
	}
	if _, known := d.runtimes[id]; known {
		return
	}
	rt := Runtime{
		ID:              id,
		Label:           text(about, ontology.RDFSLabel),
		Language:        text(about, ontology.PropLanguage),
		Version:         text(about, ontology.PropVersion),
		Executable:      text(about, ontology.PropExecutable),
		Namespace:       ontology.IRI(text(about, ontology.PropCapabilityNamespace)),
		StandardModules: strings.Fields(text(about, ontology.PropStandardModules)),
	}
	if lists := about[ontology.PropArguments]; len(lists) > 0 {
		rt.Args = f.list(lists[0])
	}
	if rt.Namespace == "" {
		rt.Namespace = namespaceFor(rt.Language)
	}
	rt.declareJobs(about)
	d.runtimes[id] = rt
}

// nameAliases files the runtimes under their other names. Of two with the same
// the first by name has it; a runtime's own name is no one else's.
func (d *declared) nameAliases() {
	d.aliases = map[ontology.RuntimeID]ontology.RuntimeID{}
	for _, id := range slices.Sorted(maps.Keys(d.runtimes)) {
		for _, alias := range d.runtimes[id].Aliases {
			if _, taken := d.aliases[alias]; !taken {
				d.aliases[alias] = id
			}
		}
	}
}

// declareJobs takes what a graph says of a runtime's jobs and parents.
func (rt *Runtime) declareJobs(about map[ontology.IRI][]ttl.Term) {
	for _, o := range about[ontology.PropAlias] {
		rt.Aliases = append(rt.Aliases, ontology.RuntimeID(o.Value))
	}
	slices.Sort(rt.Aliases)
	for _, o := range about[ontology.PropPreimports] {
		rt.Preimports = append(rt.Preimports, ontology.Capability(o.Value))
	}
	rt.Preimports = ontology.SortCapabilities(rt.Preimports)
	for p, to := range map[ontology.IRI]*int64{
		ontology.PropDefaultWallMillis:  &rt.Limits.WallMillis,
		ontology.PropDefaultCPUMillis:   &rt.Limits.CPUMillis,
		ontology.PropDefaultMemoryBytes: &rt.Limits.MemoryBytes,
		ontology.PropDefaultPIDs:        &rt.Limits.PIDs,
		ontology.PropDefaultOutputBytes: &rt.Limits.OutputBytes,
		ontology.PropDefaultFilesBytes:  &rt.Limits.FilesBytes,
	} {
		for _, o := range about[p] {
			if n, ok := limitOf(o); ok {
				*to = n
			}
		}
	}
}

// namespaceFor is where a runtime's modules live if it does not say: for Python
// in "py:", for another language in a namespace of its name.
func namespaceFor(language string) ontology.IRI {
	if language == "python" {
		return ontology.PythonNS
	}
	return ontology.IRI(ontology.Root + ontology.EscapeSegment(language) + "/")
}

// list follows an RDF list. A broken or circular one ends where it breaks.
func (f facts) list(cell ttl.Term) (out []string) {
	seen := map[ttl.Term]bool{}
	for cell.Value != ttl.RDFNil && !seen[cell] && len(out) < maxArguments {
		seen[cell] = true
		first, rest := f[cell][ttl.RDFFirst], f[cell][ttl.RDFRest]
		if len(first) == 0 || len(rest) == 0 {
			break
		}
		out = append(out, first[0].Value)
		cell = rest[0]
	}
	return out
}

// maxArguments bounds a runtime's arguments.
const maxArguments = 256

// addCapability takes what a graph says of a capability: implications from
// every graph, the rest from the first that says it. A cost that the host
// measured counts more than one that was declared.
func (d *declared) addCapability(s ttl.Term, about map[ontology.IRI][]ttl.Term, measured bool) {
	if s.Kind != ttl.IRI || !isCapability(about) {
		return
	}
	id := ontology.Capability(s.Value)
	c, known := d.caps[id]
	c.ID = id
	if !known || c.Label == "" {
		c.Label = text(about, ontology.RDFSLabel)
	}
	if strings.HasPrefix(s.Value, string(ontology.BundleNS)) || is(about, ontology.ClassBundle) {
		c.Bundle, c.ImportName = true, ""
	}
	if c.ImportName == "" && !c.Bundle && !(known && measured) {
		c.ImportName = importName(id, about)
	}
	if w, err := millis(ttl.Term{Value: text(about, ontology.PropWarmMillis)}); err == nil && (c.WarmMillis == 0 || measured) {
		c.WarmMillis = w
	}
	for _, o := range about[ontology.PropImplies] {
		if o.Kind == ttl.IRI && o != s {
			c.Implies = append(c.Implies, ontology.Capability(o.Value))
		}
	}
	c.Implies = ontology.SortCapabilities(c.Implies)
	d.caps[id] = c
}

// isCapability reports whether a graph says that a subject is a capability, by
// its class, by what it implies, or by a measured cost.
func isCapability(about map[ontology.IRI][]ttl.Term) bool {
	return is(about, ontology.ClassModule) || is(about, ontology.ClassBundle) || is(about, ontology.ClassCapability) ||
		len(about[ontology.PropImplies]) > 0 || len(about[ontology.PropWarmMillis]) > 0
}

// importName is the name that loads a capability: the declared one, or the
// local name of a module.
func importName(id ontology.Capability, about map[ontology.IRI][]ttl.Term) string {
	if name := text(about, ontology.PropImportName); name != "" {
		return name
	}
	if is(about, ontology.ClassCapability) && !is(about, ontology.ClassModule) {
		return ""
	}
	if m := id.Module(); moduleName(m) {
		return m
	}
	return ""
}

// moduleName reports whether a name could stand in an import statement.
func moduleName(name string) bool {
	if strings.ContainsAny(name, "@") {
		return false
	}
	_, err := ontology.NewCapability(ontology.PythonNS, name)
	return err == nil
}
