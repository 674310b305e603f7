package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/server/strictjson"
)

func TestDecodeReadsAWholeJob(t *testing.T) {
	const doc = ` {"runtime":"python","code":"print(\"\u00fc\ud83d\ude00\\\/\b\f\n\r\t\")","need":[],"args":["a"],
		"env":{"A":"1","B":""},"files":[{"path":"x","text":"t","mode":384},{"path":"y","base64":"AA=="}],
		"isolation":"container","rung":null,"match":"exact","network":true,"limits":{"wall_ms":30000,"pids":-1}} `
	text, b64, iso := "t", "AA==", ontology.IsolationContainer
	want := banyan.Job{
		Runtime: "python", Code: "print(\"ü😀\\/\b\f\n\r\t\")", Need: []string{}, Args: []string{"a"},
		Env:       map[string]string{"A": "1", "B": ""},
		Files:     []banyan.File{{Path: "x", Text: &text, Mode: 384}, {Path: "y", Base64: &b64}},
		Isolation: &iso, Match: ontology.MatchExact, Network: true,
		Limits: banyan.Limits{WallMS: 30000, PIDs: -1},
	}
	var got banyan.Job
	if err := strictjson.Decode([]byte(doc), &got, strictjson.Limits{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded job (-want +got):\n%s", diff)
	}
	if got.Need == nil {
		t.Error("an empty need became nil: it would be read from the code's imports")
	}
}

// sample has every kind of member the decoder knows.
type sample struct {
	S string            `json:"s"`
	B bool              `json:"b"`
	I int8              `json:"i"`
	U uint8             `json:"u"`
	F float64           `json:"f"`
	P *int              `json:"p"`
	L []string          `json:"l"`
	M map[string]int    `json:"m"`
	O struct{ Q int }   `json:"o"`
	T ontology.RungName `json:"t"`
	K ontology.Capability
	Z string `json:"-"`
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat(`{"x":`, 40)
	for _, tc := range []struct{ name, doc, pointer, detail string }{
		{"unknown member", `{"sss":1}`, "/sss", `unknown member "sss"; did you mean "s"?`},
		{"unknown far", `{"zzzzzz":1}`, "/zzzzzz", `unknown member "zzzzzz"`},
		{"other case", `{"S":"x"}`, "/S", `unknown member "S"; did you mean "s"?`},
		{"hidden member", `{"Z":"x"}`, "/Z", `unknown member "Z"`},
		{"unknown nested", `{"o":{"R":1}}`, "/o/R", `unknown member "R"; did you mean "Q"?`},
		{"unknown with a value to skip", `{"nope":[{"a":[1,2,{"b":null}]},"\u0041"],"s":1}`, "/nope", `unknown member "nope"`},
		{"long name", `{"` + strings.Repeat("ü", 200) + `":1}`, "/" + strings.Repeat("ü", 32) + "…", "unknown member"},
		{"escaped pointer", `{"a/b~c":1}`, "/a~1b~0c", "unknown member"},
		{"duplicate", `{"s":"a","s":"b"}`, "/s", "more than once"},
		{"duplicate by escape", `{"s":"a","\u0073":"b"}`, "/s", "more than once"},
		{"duplicate in map", `{"m":{"k":1,"k":2}}`, "/m/k", "more than once"},
		{"trailing", `{} {}`, "", "line 1, column 4: something follows"},
		{"trailing comma", `{"s":"a",}`, "", "name must stand here"},
		{"array comma", `{"l":["a",]}`, "/l/1", "a value must stand here"},
		{"empty", ``, "", "no JSON value"},
		{"blank", " \n ", "", "line 2, column 2: there is no JSON value"},
		{"null document", `null`, "", "must be an object, not null"},
		{"array document", `[]`, "", "must be an object, not an array"},
		{"string for number", `{"i":"1"}`, "/i", "must be a whole number, not a string"},
		{"number for string", `{"s":1}`, "/s", "must be a string, not a number"},
		{"number for text", `{"K":1}`, "/K", "must be a string, not a number"},
		{"object for text", `{"K":{}}`, "/K", "must be a string, not an object"},
		{"bool for array", `{"l":true}`, "/l", "must be an array, not true"},
		{"object for array", `{"l":{"a":1}}`, "/l", "must be an array, not an object"},
		{"array for object", `{"o":[1]}`, "/o", "must be an object, not an array"},
		{"array for string", `{"t":["x"]}`, "/t", "must be a string, not an array"},
		{"number for bool", `{"b":1}`, "/b", "must be true or false, not a number"},
		{"string for number", `{"f":"x"}`, "/f", "must be a number, not a string"},
		{"in an array", `{"l":["a",2]}`, "/l/1", "must be a string, not a number"},
		{"null in an array", `{"l":[null]}`, "/l/0", "must be a string, not null"},
		{"null in a map", `{"m":{"k":null}}`, "/m/k", "must be a whole number, not null"},
		{"fraction", `{"i":1.0}`, "/i", "1.0 must be a whole number"},
		{"exponent", `{"i":1e1}`, "/i", "1e1 must be a whole number"},
		{"overflow", `{"i":128}`, "/i", "128 is out of range"},
		{"huge", `{"f":1e999}`, "/f", "1e999 is out of range"},
		{"negative", `{"u":-1}`, "/u", "-1 must not be negative"},
		{"bad capability", `{"K":"a b"}`, "/K", "needs a prefix"},
		{"leading zero", `{"i":01}`, "", "',' or '}' must stand here"},
		{"bare minus", `{"i":-}`, "/i", "a digit must stand here"},
		{"bare point", `{"f":1.}`, "/f", "a digit must stand here"},
		{"bare exponent", `{"f":1e+}`, "/f", "a digit must stand here"},
		{"NaN", `{"f":NaN}`, "/f", "a value must stand here"},
		{"plus", `{"i":+1}`, "/i", "a value must stand here"},
		{"single quotes", `{'s':1}`, "", "name must stand here"},
		{"comment", `{/**/}`, "", "name must stand here"},
		{"no colon", `{"s" 1}`, "", "':' must stand here"},
		{"truncated word", `{"b":tru`, "/b", "a value must stand here"},
		{"truncated string", `{"s":"a`, "/s", "ends inside a string"},
		{"truncated escape", `{"s":"a\`, "/s", "ends inside a string"},
		{"truncated after escape", `{"s":"a\n`, "/s", "ends inside a string"},
		{"truncated object", `{"s":"a"`, "", "',' or '}' must stand here"},
		{"truncated member", `{"s":`, "/s", "the text ends"},
		{"bad escape", `{"s":"\x41"}`, "/s", "an escape that JSON does not have"},
		{"bad unicode", `{"s":"\u00g0"}`, "/s", "four hexadecimal digits"},
		{"lone high surrogate", `{"s":"\ud800"}`, "/s", "half of a surrogate pair"},
		{"lone low surrogate", `{"s":"\udc00x"}`, "/s", "half of a surrogate pair"},
		{"two high surrogates", `{"s":"\ud800\ud800"}`, "/s", "half of a surrogate pair"},
		{"control character", "{\"s\":\"a\nb\"}", "/s", "control character"},
		{"control after escape", "{\"s\":\"\\n\x01\"}", "/s", "control character"},
		{"not UTF-8", "{\"s\":\"\xff\"}", "", "line 1, column 7: the text is not UTF-8"},
		{"byte order mark", "\uFEFF{}", "", "a value must stand here"},
		{"too deep", deep, strings.Repeat("/x", 32), "nested deeper than 32 levels"},
		{"too deep in arrays", `{"l":` + strings.Repeat("[", 100_000), "", "nested deeper than 32 levels"},
		{"too many values", `{"l":[` + strings.Repeat(`"",`, 300_000) + `""]}`, "", "more than 200000 values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s sample
			err := strictjson.Decode([]byte(tc.doc), &s, strictjson.Limits{})
			var e *errs.Error
			if !errors.As(err, &e) || e.Kind != errs.Invalid || len(e.Parts) == 0 {
				t.Fatalf("Decode = %v, want an Invalid error with parts", err)
			}
			if tc.pointer != "" && e.Parts[0].Pointer != tc.pointer {
				t.Errorf("pointer %q, want %q", e.Parts[0].Pointer, tc.pointer)
			}
			if !strings.Contains(e.Parts[0].Detail, tc.detail) {
				t.Errorf("detail %q does not contain %q", e.Parts[0].Detail, tc.detail)
			}
			if len(e.Msg) > 1024 {
				t.Errorf("the sentence has %d bytes", len(e.Msg))
			}
		})
	}
}

func TestDecodeGathersFaults(t *testing.T) {
	var s sample
	err := strictjson.Decode([]byte(`{"s":1,"i":"x","nope":{},"b":null,"l":["a",3]}`), &s, strictjson.Limits{})
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range e.Parts {
		got = append(got, p.Pointer)
	}
	if diff := cmp.Diff([]string{"/s", "/i", "/nope", "/l/1"}, got); diff != "" {
		t.Errorf("pointers (-want +got):\n%s", diff)
	}
	var doc strings.Builder
	for i := range 100 {
		fmt.Fprintf(&doc, `,"unknown%d":1`, i)
	}
	err = strictjson.Decode([]byte(`{"b":true`+doc.String()+"}"), &s, strictjson.Limits{})
	if !errors.As(err, &e) || len(e.Parts) != 16 || !strings.HasPrefix(e.Msg, "100 faults") {
		t.Errorf("100 unknown members: %v with %d parts", err, len(e.Parts))
	}
}

func TestDecodeNeedsAPointer(t *testing.T) {
	if err := strictjson.Decode([]byte(`{}`), sample{}, strictjson.Limits{}); errs.KindOf(err) != errs.Internal {
		t.Errorf("Decode into a value = %v", err)
	}
}

// FuzzDecode: whatever the strict decoder accepts, the standard library reads
// as the very same job; whatever it refuses, it refuses without a panic and
// with a bounded text.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"code":"x"}`, `{"code":"\ud83d\ude00","need":[],"limits":{"pids":3}}`, `{"files":[{"path":"a","text":null}]}`,
		`{"env":{"a":"b","a":"c"}}`, `{"isolation":"wasm","match":"exact","rung":null}`, `{"code":1e5}`, `[[[[`, `{"limits":{"wall_ms":9223372036854775808}}`,
		"\xff", `{"code":"a"}x`, `{"need":[null]}`, `{"files":[{"mode":4294967296}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict, std banyan.Job
		err := strictjson.Decode(data, &strict, strictjson.Limits{})
		if err != nil {
			if errs.KindOf(err) != errs.Invalid || len(err.Error()) > 16<<10 {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&std); err != nil {
			t.Fatalf("strict accepts what the standard library refuses: %v", err)
		}
		if diff := cmp.Diff(std, strict); diff != "" {
			t.Fatalf("two readings of one request (-std +strict):\n%s", diff)
		}
	})
}

func BenchmarkDecodeJob(b *testing.B) {
	doc, err := json.Marshal(banyan.Job{Code: strings.Repeat("print('hello')\n", 100), Need: []string{"numpy", "pandas"}, Env: map[string]string{"A": "B"}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		var j banyan.Job
		if err := strictjson.Decode(doc, &j, strictjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
