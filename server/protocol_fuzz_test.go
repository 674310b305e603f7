package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// FuzzProtocol reads requests: whatever comes, it is a request with one text, or
// an error that is the caller's.
func FuzzProtocol(f *testing.F) {
	for _, seed := range [][3]string{
		{"query=ASK{}", "", ""},
		{"", "application/sparql-query", "ASK {}"},
		{"default-graph-uri=urn:x", "application/x-www-form-urlencoded", "query=ASK%7B%7D&format=json"},
		{"query=%zz", "", ""},
		{"", "application/x-www-form-urlencoded; charset=x", "query=a;b"},
		{"query=a&query=b", "", ""},
		{"query=%ff", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := &Server{cfg: Config{}.withDefaults(), buffered: &budget{max: 1 << 20}}
	f.Fuzz(func(t *testing.T, query, contentType, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sparql", nil)
		if contentType != "" {
			r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sparql", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
		}
		r.URL = &url.URL{Path: "/sparql", RawQuery: query}
		c := &call{r: r, w: httptest.NewRecorder()}
		in, err := s.readProtocol(c, queryOperation)
		s.buffered.give(c.reserved)
		if err != nil {
			if k := errs.KindOf(err); k != errs.Invalid && k != errs.TooLarge && k != errs.Exhausted {
				t.Fatalf("%v is not the caller's error: %v", k, err)
			}
			return
		}
		if strings.TrimSpace(in.text) == "" || !utf8.ValidString(in.text) {
			t.Fatalf("text %q", in.text)
		}
		for _, g := range append(in.deflt, in.named...) {
			if strings.ContainsFunc(string(g), notInIRI) || !strings.Contains(string(g), ":") {
				t.Fatalf("graph %q", g)
			}
		}
	})
}
