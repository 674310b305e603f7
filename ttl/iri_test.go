package ttl_test

import (
	"testing"

	"github.com/seed-ff860830/banyan/ttl"
)

// TestResolveIRI has the examples of RFC 3986, section 5.4, and what readers
// of Turtle are known to get wrong beside them.
func TestResolveIRI(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"", "g:h", "g:h"},
		{"", "g", "http://a/b/c/g"},
		{"", "./g", "http://a/b/c/g"},
		{"", "g/", "http://a/b/c/g/"},
		{"", "/g", "http://a/g"},
		{"", "//g", "http://g"},
		{"", "?y", "http://a/b/c/d;p?y"},
		{"", "g?y", "http://a/b/c/g?y"},
		{"", "#s", "http://a/b/c/d;p?q#s"},
		{"", "g#s", "http://a/b/c/g#s"},
		{"", "g?y#s", "http://a/b/c/g?y#s"},
		{"", ";x", "http://a/b/c/;x"},
		{"", "g;x", "http://a/b/c/g;x"},
		{"", "g;x?y#s", "http://a/b/c/g;x?y#s"},
		{"", "", "http://a/b/c/d;p?q"},
		{"", ".", "http://a/b/c/"},
		{"", "./", "http://a/b/c/"},
		{"", "..", "http://a/b/"},
		{"", "../", "http://a/b/"},
		{"", "../g", "http://a/b/g"},
		{"", "../..", "http://a/"},
		{"", "../../", "http://a/"},
		{"", "../../g", "http://a/g"},
		{"", "../../../g", "http://a/g"},
		{"", "../../../../g", "http://a/g"},
		{"", "/./g", "http://a/g"},
		{"", "/../g", "http://a/g"},
		{"", "g.", "http://a/b/c/g."},
		{"", ".g", "http://a/b/c/.g"},
		{"", "g..", "http://a/b/c/g.."},
		{"", "..g", "http://a/b/c/..g"},
		{"", "./../g", "http://a/b/g"},
		{"", "./g/.", "http://a/b/c/g/"},
		{"", "g/./h", "http://a/b/c/g/h"},
		{"", "g/../h", "http://a/b/c/h"},
		{"", "g;x=1/./y", "http://a/b/c/g;x=1/y"},
		{"", "g;x=1/../y", "http://a/b/c/y"},
		{"", "g?y/./x", "http://a/b/c/g?y/./x"},
		{"", "g?y/../x", "http://a/b/c/g?y/../x"},
		{"", "g#s/./x", "http://a/b/c/g#s/./x"},
		{"", "g#s/../x", "http://a/b/c/g#s/../x"},
		{"", "http:g", "http:g"},

		{"http://a", "g", "http://a/g"},
		{"http://a", "", "http://a"},
		{"http://a", "#f", "http://a#f"},
		{"http://a?q", "g", "http://a/g"},
		{"http://a/b#f", "", "http://a/b"},
		{"http://a/b#f", "#g", "http://a/b#g"},
		{"http://a/b?q#f", "c", "http://a/c"},
		{"http://a/b", "?", "http://a/b?"},
		{"http://a/b?q", "#", "http://a/b?q#"},
		{"http://a/b/", "..", "http://a/"},
		{"urn:a:b", "#f", "urn:a:b#f"},
		{"urn:a:b", "c", "urn:c"},
		{"file:///a/b", "c", "file:///a/c"},
		{"file:///a/b", "//h/c", "file://h/c"},
		{"http://a/b/c", "//h/x/../y", "http://h/y"},
		{"http://a/\u00e9/c", "\u4e2d", "http://a/\u00e9/\u4e2d"},
		{"http://a/b", "a:b/../c", "a:b/../c"},
		{"http://a/b", "./a:b", "http://a/a:b"},
		{"http://a/b", "1:b", "http://a/1:b"},
		{"http://a/b", "/..", "http://a/"},
		{"http://a/b", "x/.././../..", "http://a/"},
	} {
		base := c.base
		if base == "" {
			base = "http://a/b/c/d;p?q"
		}
		if got := ttl.ResolveIRI(base, c.ref); got != c.want {
			t.Errorf("ResolveIRI(%q, %q) = %q, want %q", base, c.ref, got, c.want)
		}
	}
}

func TestValidIRI(t *testing.T) {
	for s, want := range map[string]bool{
		"http://a/b": true, "urn:x": true, "a:": true, "a+b-c.1:x": true, "http://a/\u00e9": true, "http://a/%": true,
		"": false, "a": false, ":a": false, "1a:b": false, "/a": false, "a b:c": false, "a:b c": false, "a:<": false, "a:>": false,
		"a:\"": false, "a:{": false, "a:|": false, "a:^": false, "a:`": false, `a:\`: false, "a:\n": false, "a:\x00": false, "a:\xff": false,
	} {
		if got := ttl.ValidIRI(s); got != want {
			t.Errorf("ValidIRI(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestBlankLabels(t *testing.T) {
	for label, want := range map[string]string{
		"b0": "b0", "0": "0", "_": "_", "a.b": "a.b", "\u00e9\u00b7": "\u00e9\u00b7", "\uFFFD": "\uFFFD",
		"#7": "anon-7", "#": "anon-x23", "#7a": "anon-x233761", "": "anon-x", "a.": "anon-x612e", "a b": "anon-x612062",
		"-a": "anon-x2d61", "\u00b7": "anon-xc2b7", "\xff": "anon-xff", "anon-7": "anon-_anon-7", "anon-xff": "anon-_anon-xff",
		"a> <b> <c> .\n_:d": "anon-x613e203c623e203c633e202e0a5f3a64",
	} {
		if got := ttl.WritableLabel(label); got != want || !ttl.ValidBlankLabel(got) && label != "" {
			t.Errorf("WritableLabel(%q) = %q, want %q", label, got, want)
		}
	}
	if !ttl.IsGenerated("#1") || ttl.IsGenerated("genid1") || ttl.ValidBlankLabel("#1") {
		t.Error("a generated label must be one that no document can write")
	}
}
