package ontology

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Capability is the IRI of one thing a snapshot can hold and a job can need.
// A capability that is a module lives in its runtime's namespace, and may end
// in "@version": <…/py/numpy> and <…/py/numpy@1.24.2>.
type Capability IRI

// PythonNS is the namespace of Python modules, prefix "py:".
const PythonNS = IRI(Root + "py/")

// BundleNS is the namespace of bundles, prefix "bundle:": capabilities that
// stand for the several they imply.
const BundleNS = IRI(Root + "bundle/")

// MaxNameLen bounds a capability's local name, in bytes.
const MaxNameLen = 256

// NewCapability makes the capability of a module name ("numpy",
// "numpy@1.24.2", "matplotlib.pyplot") in a namespace. It refuses names that
// could not stand in an IRI or in an import statement, so that a name can
// never carry syntax into a query or into code.
func NewCapability(ns IRI, name string) (Capability, error) {
	module, version, hasVersion := strings.Cut(name, "@")
	if len(name) > MaxNameLen {
		return "", fmt.Errorf("capability name has %d bytes; at most %d are allowed", len(name), MaxNameLen)
	}
	if !validModule(module) {
		return "", fmt.Errorf("%q is not a module name", module)
	}
	if hasVersion && !validVersion(version) {
		return "", fmt.Errorf("%q is not a version", version)
	}
	return Capability(string(ns) + name), nil
}

// ParseCapability reads a need as a user writes it: "numpy", "numpy@1.24.2",
// "py:numpy", "bundle:science" or a whole IRI (with "://", or a "urn:"). Names
// without a prefix are taken in ns; without an ns they are refused.
func ParseCapability(ns IRI, s string) (Capability, error) {
	if rest, ok := strings.CutPrefix(s, "py:"); ok {
		return NewCapability(PythonNS, rest)
	}
	if rest, ok := strings.CutPrefix(s, "bundle:"); ok {
		return NewCapability(BundleNS, rest)
	}
	if rest, ok := strings.CutPrefix(s, string(PythonNS)); ok {
		return NewCapability(PythonNS, rest)
	}
	if rest, ok := strings.CutPrefix(s, string(BundleNS)); ok {
		return NewCapability(BundleNS, rest)
	}
	if strings.Contains(s, "://") || strings.HasPrefix(s, "urn:") {
		if len(s) > 2*MaxNameLen || !validIRI(s) {
			return "", fmt.Errorf("%q is not an IRI", s)
		}
		return Capability(s), nil
	}
	if ns == "" {
		return "", fmt.Errorf("%q needs a prefix, as in py:numpy", s)
	}
	return NewCapability(ns, s)
}

// IRI returns the capability's node in the graph.
func (c Capability) IRI() IRI { return IRI(c) }

// Short returns the capability as people write it: "py:numpy@1.24.2" for a
// Python module, "bundle:science" for a bundle, the IRI for anything else.
func (c Capability) Short() string {
	if rest, ok := strings.CutPrefix(string(c), string(BundleNS)); ok {
		return "bundle:" + rest
	}
	if rest, ok := strings.CutPrefix(string(c), string(PythonNS)); ok {
		return "py:" + rest
	}
	return string(c)
}

// MarshalText writes the short form.
func (c Capability) MarshalText() ([]byte, error) { return []byte(c.Short()), nil }

// UnmarshalText reads what MarshalText writes, and whole IRIs.
func (c *Capability) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCapability("", string(b))
	return err
}

// local returns what stands behind the last '/' or '#'.
func (c Capability) local() string {
	s := string(c)
	return s[strings.LastIndexAny(s, "/#")+1:]
}

// Module returns the name to import: the local name without its version.
func (c Capability) Module() string {
	m, _, _ := strings.Cut(c.local(), "@")
	return m
}

// Version returns the version behind '@', or "".
func (c Capability) Version() string {
	_, v, _ := strings.Cut(c.local(), "@")
	return v
}

// Unversioned returns the capability without its version. A versioned
// capability implies it.
func (c Capability) Unversioned() Capability {
	v := c.Version()
	if v == "" {
		return c
	}
	return c[:len(c)-len(v)-1]
}

// SortCapabilities returns a sorted copy without duplicates: the form that
// keys and comparisons use.
func SortCapabilities(cs []Capability) []Capability {
	out := slices.Clone(cs)
	slices.Sort(out)
	return slices.Compact(out)
}

// validModule accepts dotted identifiers: letters (also beyond ASCII, as
// Python has them), digits, '_', and '-' and '+' for other runtimes' packages.
// Letters are Unicode's: no space, control, direction mark or broken byte is one.
func validModule(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" {
			return false
		}
		for i, r := range part {
			if r == '_' || unicode.IsLetter(r) {
				continue
			}
			if i == 0 || !(unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '+') {
				return false
			}
		}
	}
	return true
}

// validIRI accepts a scheme and what can stand between angle brackets, without
// control characters (RFC 3987 as far as RDF's syntaxes ask for it).
func validIRI(s string) bool {
	scheme, _, _ := strings.Cut(s, ":")
	for i := range len(scheme) {
		c := scheme[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return scheme != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == ' ' || unicode.IsControl(r) || strings.ContainsRune("<>\"{}|^`\\", r)
	})
}

// validVersion accepts PEP 440 and semantic versions.
func validVersion(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		ok := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(".+-_!", c) >= 0
		if !ok {
			return false
		}
	}
	return true
}
