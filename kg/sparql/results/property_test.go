package results_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/kg/sparql/results"
	"github.com/seed-ff860830/banyan/ttl"
)

// text generates strings in which the characters that formats stumble over
// are frequent.
func text() *rapid.Generator[string] {
	traps := []rune("\t\r\n \"'\\,<>&;_:?@^{}[]\u0085\u00a0\u2028\ufeff\ufffd\U0001F600ea1.-+")
	return rapid.StringOf(rapid.OneOf(rapid.SampledFrom(traps), rapid.Rune()))
}

// term generates terms; XML cannot write most controls.
func term(f results.Format) *rapid.Generator[ttl.Term] {
	return rapid.Custom(func(t *rapid.T) ttl.Term {
		value := text().Draw(t, "value")
		if f == results.XML {
			value = strings.Map(func(c rune) rune {
				if c < 0x20 && !strings.ContainsRune("\t\r\n", c) || c == 0xFFFE || c == 0xFFFF {
					return -1
				}
				return c
			}, value)
		}
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return ttl.Term{}
		case 1:
			return ttl.NewIRI("http://example.org/" + strings.Map(func(c rune) rune {
				if !ttl.ValidIRI("x:"+string(c)) || c == 0xFFFE || c == 0xFFFF {
					return -1
				}
				return c
			}, value))
		case 2:
			return ttl.NewBlank(rapid.SampledFrom([]string{"b0", "b1", "x-y"}).Draw(t, "label"))
		case 3:
			return ttl.NewLang(value, rapid.SampledFrom([]string{"en", "zh-Hant-TW"}).Draw(t, "lang"))
		case 4:
			number := rapid.SampledFrom([]string{"1", "-1", "01", "1.", "1.5", "+.5", "1e3", "1.e3", "INF", "", "1e", " 1"}).Draw(t, "number")
			return ttl.NewTyped(number, rapid.SampledFrom([]string{ttl.XSDInteger, ttl.XSDDecimal, ttl.XSDDouble}).Draw(t, "type"))
		case 5:
			return ttl.NewTyped(value, "http://example.org/type?a&b")
		}
		return ttl.NewString(value)
	})
}

func set(f results.Format) *rapid.Generator[*results.Set] {
	return rapid.Custom(func(t *rapid.T) *results.Set {
		vars := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9_éλ][a-z0-9_·]{0,2}`), 0, 4, rapid.ID).Draw(t, "vars")
		rows := rapid.SliceOfN(rapid.SliceOfN(term(f), len(vars), len(vars)), 0, 6).Draw(t, "rows")
		return &results.Set{Vars: vars, Rows: rows}
	})
}

func TestWhatIsWrittenIsReadBackTheSame(t *testing.T) {
	for _, f := range results.Formats() {
		t.Run(f.String(), rapid.MakeCheck(func(t *rapid.T) {
			want := set(f).Draw(t, "set")
			var out bytes.Buffer
			if err := want.Write(&out, f); err != nil {
				t.Fatal(err)
			}
			doc := out.String()
			got, err := results.Read(&out, f, results.Limits{})
			if err != nil {
				t.Fatalf("%v\n%q", err, doc)
			}
			if f == results.CSV {
				want, got = plain(want), plainBlank(want, got)
			}
			if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
				t.Fatalf("(-want +got):\n%s\n%q", diff, doc)
			}
		}))
	}
}

// plainBlank turns what CSV gave back as a blank node into the string that it
// was written from, where it was one: the format cannot tell the two apart.
func plainBlank(want, got *results.Set) *results.Set {
	for i, row := range got.Rows {
		for j, t := range row {
			if t.Kind == ttl.Blank && want.Rows[i][j].Kind != ttl.Blank {
				row[j] = ttl.NewString("_:" + t.Value)
			}
		}
	}
	return got
}

func TestNegotiateAgreesWithTheOneTypeNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := slices.Clone(results.Formats())
		f := rapid.SampledFrom(offers).Draw(t, "format")
		header := f.MediaType() + rapid.SampledFrom([]string{"", ";q=1", "; charset=utf-8", " ; q=0.3 "}).Draw(t, "params")
		for range rapid.IntRange(0, 3).Draw(t, "others") {
			header += ", " + rapid.SampledFrom([]string{"image/png", "*/*;q=0.1", "text/*;q=0.2", "application/pdf;q=1", `x/y;a="b,c"`, "q=1", ";;", "/"}).Draw(t, "other")
		}
		if got, ok := results.Negotiate(header, offers); !ok || got != f {
			t.Fatalf("Negotiate(%q) = %s, %v, want %s", header, got, ok, f)
		}
	})
}
