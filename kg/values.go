package kg

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

// The checks of values return what is wrong, "" if nothing is.

// plain returns the text of a string literal.
func plain(d *document, o uint32) (string, bool) {
	t := d.terms[o]
	return t.Value, t.Kind == ttl.Literal && t.Lang == "" && t.Datatype == ""
}

func checkImplies(d *document, o uint32) string {
	t := d.terms[o]
	if t.Kind != ttl.IRI {
		return "bn:implies points to an IRI, not to " + d.show(o)
	}
	if _, err := ontology.ParseCapability("", t.Value); err != nil {
		return badCapability
	}
	return ""
}

// numeric are the datatypes of numbers that a warm-up may be written in.
var numeric = []string{ttl.XSDInteger, ttl.XSDDecimal, ttl.XSDDouble, ttl.XSD + "float", ttl.XSD + "nonNegativeInteger"}

func checkMillis(d *document, o uint32) string {
	t := d.terms[o]
	if t.Kind == ttl.Literal && slices.Contains(numeric, t.Datatype) && decimalText(t.Value) {
		if _, err := millis(t); err == nil {
			return ""
		}
	}
	return "bn:warmMillis is a number of milliseconds, not below zero, and not " + d.show(o)
}

// decimalText keeps out what Go reads as a number and XML Schema does not
// ("0x1p3", "1_000", "inf").
func decimalText(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.+-eE") == ""
}

func checkVersion(d *document, o uint32) string {
	s, ok := plain(d, o)
	if !ok || s == "" || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "bn:version is a short string without spaces, not " + d.show(o)
	}
	return ""
}

func checkImportName(d *document, o uint32) string {
	if s, ok := plain(d, o); !ok || !moduleName(s) {
		return "bn:importName is the name of a module, not " + d.show(o)
	}
	return ""
}

func checkLanguage(d *document, o uint32) string {
	if s, ok := plain(d, o); !ok || !ontology.RuntimeID(s).Valid() {
		return "bn:language is a string of letters, digits, '.', '_' and '-', not " + d.show(o)
	}
	return ""
}

func checkAlias(d *document, o uint32) string {
	if s, ok := plain(d, o); !ok || !ontology.RuntimeID(s).Valid() {
		return "bn:alias is another name of the runtime: letters, digits, '.', '_' and '-', and not " + d.show(o)
	}
	return ""
}

func checkPreimports(d *document, o uint32) string {
	t := d.terms[o]
	if t.Kind != ttl.IRI {
		return "bn:preimports points to a capability, not to " + d.show(o)
	}
	if _, err := ontology.ParseCapability("", t.Value); err != nil {
		return badCapability
	}
	return ""
}

// checkLimit is the shape of a default limit. What the host allows is for the
// host to say.
func checkLimit(d *document, o uint32) string {
	if _, ok := limitOf(d.terms[o]); !ok {
		return "a default limit is a whole number from 1 to 10^15, not " + d.show(o)
	}
	return ""
}

// maxDefaultLimit is more than any host allows, and safe to reckon with.
const maxDefaultLimit = 1_000_000_000_000_000

// limitOf reads a default limit.
func limitOf(t ttl.Term) (int64, bool) {
	if t.Kind != ttl.Literal || t.Datatype != ttl.XSDInteger && t.Datatype != ttl.XSD+"nonNegativeInteger" {
		return 0, false
	}
	n, err := strconv.ParseInt(t.Value, 10, 64)
	return n, err == nil && n >= 1 && n <= maxDefaultLimit
}

// maxPath bounds the path of an executable, in bytes.
const maxPath = 1024

func checkExecutable(d *document, o uint32) string {
	s, ok := plain(d, o)
	bare := ok && !strings.Contains(s, "/") && ontology.RuntimeID(s).Valid()
	absolute := ok && strings.HasPrefix(s, "/") && s != "/" && path.Clean(s) == s && len(s) <= maxPath && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
	if !bare && !absolute {
		return "bn:executable is an absolute path in its shortest form, or a bare name, and not " + d.show(o)
	}
	return ""
}

func checkNamespace(d *document, o uint32) string {
	t := d.terms[o]
	if t.Kind != ttl.IRI || !strings.HasSuffix(t.Value, "/") && !strings.HasSuffix(t.Value, "#") || len(t.Value) > ontology.MaxNameLen {
		return "bn:capabilityNamespace is an IRI that ends in '/' or '#', not " + d.show(o)
	}
	return ""
}

func checkStandardModules(d *document, o uint32) string {
	s, ok := plain(d, o)
	if !ok {
		return "bn:standardModules is one string, not " + d.show(o)
	}
	for _, name := range strings.Fields(s) {
		if !moduleName(name) {
			return quote(name) + " in bn:standardModules is not the name of a module"
		}
	}
	return ""
}

// checkList accepts any node; the list behind it is checked when the whole
// file is known.
func checkList(d *document, o uint32) string {
	if d.terms[o].Kind == ttl.Literal {
		return "bn:arguments is a list of strings, like ( \"-X\" \"utf8\" ), not " + d.show(o)
	}
	return ""
}
