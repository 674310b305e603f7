package w3c

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// Base is what every file of the suites is taken to lie under: the IRIs of
// files meet in queries (FROM), data and results, so all have the same base.
const Base = "https://example.org/w3c/"

const (
	mfNS   = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	qtNS   = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
	utNS   = "http://www.w3.org/2009/sparql/tests/test-update#"
	rsNS   = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
	rdfsNS = "http://www.w3.org/2000/01/rdf-schema#"
)

// Files reads the files of the suites below one folder.
type Files struct{ Dir string }

// read returns the bytes of the file with an IRI.
func (f Files) read(iri string) ([]byte, error) {
	rel, ok := strings.CutPrefix(iri, Base)
	if !ok || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, fmt.Errorf("%s is not a file of the suites", iri)
	}
	return os.ReadFile(filepath.Join(f.Dir, filepath.FromSlash(rel)))
}

// Text returns the text of the file with an IRI.
func (f Files) Text(iri string) (string, error) {
	data, err := f.read(iri)
	return string(data), err
}

// Graph reads the graph in a file. Its blank nodes get labels that begin with
// scope, for those of two files are never the same.
func (f Files) Graph(iri, scope string) ([]ttl.Triple, error) {
	data, err := f.read(iri)
	if err != nil {
		return nil, err
	}
	var ts []ttl.Triple
	if path.Ext(iri) == ".rdf" {
		ts, err = readRDFXML(data, iri)
	} else {
		ts, err = readTurtle(data, iri)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", iri, err)
	}
	labels := map[string]string{}
	for i := range ts {
		for _, t := range []*ttl.Term{&ts[i].S, &ts[i].O} {
			if t.Kind != ttl.Blank {
				continue
			}
			if labels[t.Value] == "" {
				labels[t.Value] = scope + strconv.Itoa(len(labels))
			}
			t.Value = labels[t.Value]
		}
	}
	return ts, nil
}

func readTurtle(data []byte, base string) ([]ttl.Triple, error) {
	var ts []ttl.Triple
	for t, err := range ttl.NewReader(bytes.NewReader(data), ttl.Options{Base: base}).All() {
		if err != nil {
			return nil, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// index is a graph that is asked by subject and predicate.
type index map[ttl.Term]map[string][]ttl.Term

func indexOf(ts []ttl.Triple) index {
	x := index{}
	for _, t := range ts {
		if x[t.S] == nil {
			x[t.S] = map[string][]ttl.Term{}
		}
		x[t.S][t.P.Value] = append(x[t.S][t.P.Value], t.O)
	}
	return x
}

// one returns the first object, or no term.
func (x index) one(s ttl.Term, p string) ttl.Term {
	if objects := x[s][p]; len(objects) > 0 {
		return objects[0]
	}
	return ttl.Term{}
}

// list returns the members of a collection.
func (x index) list(head ttl.Term) []ttl.Term {
	var members []ttl.Term
	for !head.IsZero() && head.Value != ttl.RDFNil {
		members = append(members, x.one(head, ttl.RDFFirst))
		head = x.one(head, ttl.RDFRest)
	}
	return members
}
