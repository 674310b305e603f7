package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// executor is an engine that only executes.
type executor struct {
	Engine
	execute func(banyan.Job) (*banyan.Result, error)
}

func (e executor) Execute(_ context.Context, j banyan.Job) (*banyan.Result, error) {
	return e.execute(j)
}

func newExecutor(t *testing.T, cfg Config, execute func(banyan.Job) (*banyan.Result, error)) *Server {
	t.Helper()
	cfg.Engine, cfg.Logger = executor{execute: execute}, slog.New(slog.DiscardHandler)
	cfg.TokenHash = HashToken("t")
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func postJob(s *Server, key, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/v1/execute", strings.NewReader(body))
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Authorization", "Bearer t")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestLargeResultsAreTheSameJSON: a result that is sent piece by piece has the
// very bytes that encoding it whole would give.
func TestLargeResultsAreTheSameJSON(t *testing.T) {
	unit := rapid.SampledFrom([]string{"a", "\x01", "é", "€", "😀", `"`, `\`, "\n", "<&>", "\u2028", "\uFFFD"})
	text := rapid.Custom(func(rt *rapid.T) string {
		lead := strings.Repeat("x", rapid.IntRange(0, 5).Draw(rt, "lead"))
		return lead + strings.Repeat(unit.Draw(rt, "unit"), rapid.IntRange(0, smallText+pieceBytes).Draw(rt, "count"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		res := &banyan.Result{Stdout: text.Draw(rt, "stdout"), Stderr: text.Draw(rt, "stderr")}
		if rapid.Bool().Draw(rt, "binary") {
			raw := text.Draw(rt, "base64")
			res.StderrBase64 = &raw
		}
		for range rapid.IntRange(0, 3).Draw(rt, "artifacts") {
			res.Artifacts = append(res.Artifacts, banyan.Artifact{Path: "p", Base64: text.Draw(rt, "artifact")})
		}
		want, err := encode(res)
		if err != nil {
			rt.Fatal(err)
		}
		a, err := resultAnswer(res)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := a.kept(context.Background(), 1<<30)
		if err != nil {
			rt.Fatal(err)
		}
		if got, _ = got.encoded(); !bytes.Equal(got.raw, want) {
			rt.Fatalf("%d bytes differ from the %d that were wanted", len(got.raw), len(want))
		}
		if a.stream != nil && a.length != int64(len(want)) {
			rt.Fatalf("the length is told as %d; it is %d", a.length, len(want))
		}
	})
}

func TestLargeResultIsAnsweredWithItsLength(t *testing.T) {
	out := strings.Repeat("\x01", 300_000)
	s := newExecutor(t, Config{}, func(banyan.Job) (*banyan.Result, error) { return &banyan.Result{Stdout: out}, nil })
	w := postJob(s, "", `{"code":"1"}`)
	var got banyan.Result
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Stdout != out || w.Code != http.StatusOK {
		t.Errorf("status %d, %d bytes of stdout, %v", w.Code, len(got.Stdout), err)
	}
	if h := w.Result().Header; h.Get("Content-Length") == "" || h.Get("Content-Type") != typeJSON {
		t.Errorf("header %v", h)
	}
}

// TestResultsGiveTheirShareBack on every way that a request can end.
func TestResultsGiveTheirShareBack(t *testing.T) {
	small, large := &banyan.Result{Stdout: "a"}, &banyan.Result{Stdout: strings.Repeat("\x01", 1<<20)}
	for name, execute := range map[string]func(banyan.Job) (*banyan.Result, error){
		"small": func(banyan.Job) (*banyan.Result, error) { return small, nil },
		"large": func(banyan.Job) (*banyan.Result, error) { return large, nil },
		"error": func(banyan.Job) (*banyan.Result, error) { return nil, errs.New(errs.RungFailed, "no") },
		"panic": func(banyan.Job) (*banyan.Result, error) { panic("no") },
	} {
		for _, key := range []string{"", "k"} {
			t.Run(name+key, func(t *testing.T) {
				// Keeps at most 1 MiB, so that the large one is not kept.
				s := newExecutor(t, Config{IdempotencyBytes: 4 << 20}, execute)
				first := postJob(s, key, `{"code":"1"}`)
				again := postJob(s, key, `{"code":"1"}`)
				if key != "" && name == "small" && again.Body.String() != first.Body.String() {
					t.Error("the answer was not kept")
				}
				if key != "" && name == "large" && (first.Code != http.StatusOK || again.Code != http.StatusConflict) {
					t.Errorf("statuses %d and %d", first.Code, again.Code)
				}
				if !s.results.sem.TryAcquire(s.results.bytes) {
					t.Error("a share was not given back")
				}
			})
		}
	}
}

func TestLargeAnswerIsKeptWholeForItsKey(t *testing.T) {
	ran := 0
	s := newExecutor(t, Config{}, func(banyan.Job) (*banyan.Result, error) {
		ran++
		return &banyan.Result{Stdout: strings.Repeat("é", 200_000)}, nil
	})
	first, again := postJob(s, "k", `{"code":"1"}`), postJob(s, "k", `{"code":"1"}`)
	if ran != 1 || first.Body.String() != again.Body.String() || again.Header().Get("Idempotent-Replayed") == "" {
		t.Errorf("ran %d times; %d and %d bytes", ran, first.Body.Len(), again.Body.Len())
	}
}

// TestResultsThatDoNotFitWait: jobs that may bring back more than there is room
// for do not run at once, and the surplus is refused and not held.
func TestResultsThatDoNotFitWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s := newExecutor(t, Config{MaxResultBytes: 20 << 20, QueueTimeout: time.Second}, func(banyan.Job) (*banyan.Result, error) {
			<-end
			return &banyan.Result{}, nil
		})
		codes := make(chan int, 3)
		for range 3 { // 8 MiB each
			go func() { codes <- postJob(s, "", `{"code":"1"}`).Code }()
		}
		if got := <-codes; got != http.StatusTooManyRequests {
			t.Errorf("the third was answered with %d", got)
		}
		close(end)
		for range 2 {
			if got := <-codes; got != http.StatusOK {
				t.Errorf("one of the first two was answered with %d", got)
			}
		}
	})
}

func TestMostHeld(t *testing.T) {
	const whole = 8 * banyan.MaxOutputBytes
	for _, tc := range []struct {
		job  banyan.Job
		want int64
	}{
		{banyan.Job{}, 8 << 20},
		{banyan.Job{Limits: banyan.Limits{OutputBytes: 1}}, 8},
		{banyan.Job{Artifacts: []string{"*"}}, 40 << 20},
		{banyan.Job{Limits: banyan.Limits{OutputBytes: banyan.MaxOutputBytes}}, whole},
		{banyan.Job{Limits: banyan.Limits{OutputBytes: 1<<63 - 1}}, whole},
		{banyan.Job{Limits: banyan.Limits{OutputBytes: -1 << 63}}, 8 << 20},
	} {
		if got := mostHeld(tc.job); got != tc.want {
			t.Errorf("%+v: %d, not %d", tc.job.Limits, got, tc.want)
		}
	}
}
