package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

func TestEveryKindHasATitle(t *testing.T) {
	for _, k := range errs.Kinds() {
		if titles[k] == "" {
			t.Errorf("kind %s has no title", k)
		}
	}
}

// everything has every form of member that the encoder treats.
type everything struct {
	planner.Choice
	P       *float64            `json:"p"`
	Q       *float64            `json:"q,omitempty"`
	M       map[string]float64  `json:"m"`
	L       []any               `json:"l"`
	A       [2]float32          `json:"a"`
	B       []byte              `json:"b"`
	T       time.Time           `json:"t,omitzero"`
	S       banyan.Result       `json:"s"`
	I       ontology.Isolation  `json:"i"`
	J       *ontology.Isolation `json:"j"`
	Omit    struct{ X int }     `json:"omit,omitempty"`
	Z       banyan.Limits       `json:"z,omitzero"`
	E       map[string]int      `json:"e,omitempty"`
	Untag   int
	Dash    int    `json:"-"`
	private int    //nolint:unused // must stay out of the JSON
	H       string `json:"h"`
}

// TestFiniteEncodesAsTheStandardLibraryDoes: where all floats are finite, the
// way around encoding/json gives the very same bytes.
func TestFiniteEncodesAsTheStandardLibraryDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.Float64Range(-1e6, 1e6)
		iso := ontology.IsolationWasm
		v := everything{
			Choice: planner.Choice{Rung: "x", ExpectedMS: f.Draw(rt, "ms"), Missing: []ontology.Capability{ontology.Capability(ontology.PythonNS + "numpy")}},
			M:      rapid.MapOf(rapid.String(), f).Draw(rt, "m"),
			L:      []any{1, "a<b", nil, f.Draw(rt, "l"), []float64{1}, map[string]any{"k": nil}},
			B:      rapid.SliceOf(rapid.Byte()).Draw(rt, "b"),
			S:      banyan.Result{Status: rungs.StatusOK, Stdout: rapid.String().Draw(rt, "s"), Result: map[string]string{"text/plain": "3"}},
			H:      rapid.String().Draw(rt, "h"),
		}
		if rapid.Bool().Draw(rt, "set") {
			x := f.Draw(rt, "p")
			v.P, v.Q, v.J = &x, &x, &iso
			v.T, v.E, v.Z = time.Unix(1, 2).UTC(), map[string]int{"a": 1}, banyan.Limits{PIDs: 3}
		}
		want, err := marshal(v)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := marshal(finite(reflect.ValueOf(v)))
		if err != nil {
			rt.Fatal(err)
		}
		// Embedded members may stand elsewhere; what a reader gets is the same.
		if diff := cmp.Diff(parse(rt, want), parse(rt, got)); diff != "" {
			rt.Fatalf("(-std +ours):\n%s", diff)
		}
	})
}

func parse(t interface{ Fatal(...any) }, b []byte) (v any) {
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err, string(b))
	}
	return v
}

func TestEncodeNonFinite(t *testing.T) {
	nan := math.NaN()
	v := map[string]any{"a": []float64{1, math.Inf(1)}, "b": &nan, "c": struct {
		X float32 `json:"x"`
	}{float32(math.Inf(-1))}, "d": "<&>"}
	got, err := encode(v)
	if want := `{"a":[1,null],"b":null,"c":{"x":null},"d":"<&>"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("encode = %s, %v, want %s", got, err, want)
	}
	if _, err := encode(make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(3, 1000, time.Hour)
		add := func(key string, size int) {
			t.Helper()
			e, first, err := m.begin(key, []byte("body"))
			if err != nil || !first {
				t.Fatalf("begin %s: %v %v", key, first, err)
			}
			m.finish(e, answer{raw: []byte(strings.Repeat("x", size))}, nil)
		}
		known := func(key string) bool {
			e, first, err := m.begin(key, []byte("body"))
			if err == nil && first {
				m.forget(e)
			}
			return !first
		}
		for i := range 4 {
			add(fmt.Sprint("k", i), 100)
		}
		if !known("k1") || !known("k3") || known("k0") {
			t.Error("of four keys the oldest must be gone, and only it")
		}
		add("big", 900) // more than its share: the answer goes, the fact stays
		e, first, err := m.begin("big", []byte("body"))
		if first || err != nil || errs.KindOf(e.err) != errs.Conflict || e.answer.raw != nil {
			t.Errorf("big: %v %v %+v", first, err, e)
		}
		m = newMemory(100, 1000, time.Hour)
		for i := range 50 {
			add(fmt.Sprint("k", i), 200)
		}
		if m.bytes > 1000 || len(m.byKey) > 5 || !known("k49") {
			t.Errorf("%d bytes in %d answers", m.bytes, len(m.byKey))
		}
		time.Sleep(time.Hour) // the bubble's clock
		if known("k49") || m.bytes != 0 || m.done.Len() != 0 {
			t.Errorf("after the time to live: %d bytes, %d answers", m.bytes, m.done.Len())
		}
		m = newMemory(2, 1000, time.Hour)
		for _, k := range []string{"a", "b"} {
			if _, first, err := m.begin(k, nil); !first || err != nil {
				t.Fatal(k, err)
			}
		}
		if _, _, err := m.begin("c", nil); errs.KindOf(err) != errs.Exhausted {
			t.Errorf("a third running request: %v", err)
		}
	})
}

func TestGate(t *testing.T) {
	g := newGate()
	for range 2 {
		if !g.enter() {
			t.Fatal("an open gate lets nobody in")
		}
	}
	empty := g.close()
	if g.enter() || !g.isClosed() {
		t.Error("a closed gate lets somebody in")
	}
	g.leave()
	select {
	case <-empty:
		t.Error("empty while one is inside")
	default:
	}
	g.leave()
	<-empty
	<-g.close()
	<-newGate().close()
}

func TestTakesGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "gzip, deflate, br": true, "deflate, GZip;q=1.0": true, "x-gzip": true, "*": true,
		"br": false, "identity": false, "gzip;q=0": false, "*;q=0": false, "gzip;q=0.2, identity;q=0.9": false,
		"gzip;q=0.9, identity;q=0.2": true, "*, gzip;q=0": false, "gzip;q=x": false, ",,;": false, "gzip;q=0.001": true,
	} {
		if got := takesGzip(http.Header{"Accept-Encoding": {accept}}); got != want {
			t.Errorf("takesGzip(%q) = %v", accept, got)
		}
	}
}

// deaf is an engine that does not hear that it shall stop.
type deaf struct {
	Engine
	called, letGo chan struct{}
}

func (d deaf) Execute(context.Context, banyan.Job) (*banyan.Result, error) {
	close(d.called)
	<-d.letGo
	return &banyan.Result{}, nil
}

func TestServeEndsEvenIfAnEngineDoesNot(t *testing.T) {
	d := deaf{called: make(chan struct{}), letGo: make(chan struct{})}
	s, err := New(Config{Engine: d, Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s.cutGrace = 20 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	answered := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Post("http://"+l.Addr().String()+"/v1/execute", typeJSON, strings.NewReader(`{"code":"1"}`))
		if err == nil {
			_ = res.Body.Close()
		}
		answered <- err
	}()
	<-d.called
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if err := <-answered; err == nil {
		t.Error("the request that never ended was answered")
	}
	close(d.letGo)
}
