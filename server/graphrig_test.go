package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/server"
)

// graphRig is a server over a real engine that has the graph and no rungs.
type graphRig struct {
	*rig
	eng *banyan.Engine
}

// maxTestRows is the bound of its answers.
const maxTestRows = 5000

func startGraph(t testing.TB, tweak func(*banyan.Config), also ...func(*server.Config)) *graphRig {
	t.Helper()
	cfg := banyan.Config{InMemory: true, Rungs: []rungs.Rung{}, MaxQueryRows: maxTestRows}
	if tweak != nil {
		tweak(&cfg)
	}
	eng, err := banyan.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return &graphRig{start(t, eng, func(c *server.Config) {
		for _, f := range also {
			f(c)
		}
	}), eng}
}

func (r *graphRig) mustUpdate(text string) {
	r.t.Helper()
	if _, err := r.eng.Update(r.t.Context(), text, banyan.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// triples counts the store's statements.
func (r *graphRig) triples() int64 {
	r.t.Helper()
	st, err := r.eng.Status(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return st.Triples
}

// get sends a query by GET.
func (r *graphRig) get(query string, headers ...string) reply {
	r.t.Helper()
	return r.do("GET", "/sparql?query="+url.QueryEscape(query), "", headers...)
}

// manyValues gives one node n long values, so that a query of two of them has n²
// rows of more than a hundred bytes.
func manyValues(n int) string {
	var b strings.Builder
	b.WriteString("INSERT DATA { GRAPH <http://e/many> {")
	for i := range n {
		fmt.Fprintf(&b, "<http://e/many> <http://e/p> \"%060d\" .\n", i)
	}
	b.WriteString("} }")
	return b.String()
}
