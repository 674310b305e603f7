package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/server"
)

// blocker is an execute that runs until it is let go or its context ends.
type blocker struct {
	calls, running, cancelled atomic.Int64
	letGo                     chan struct{}
}

func newBlocker() *blocker { return &blocker{letGo: make(chan struct{})} }

func (b *blocker) execute(ctx context.Context, j banyan.Job) (*banyan.Result, error) {
	n := b.calls.Add(1)
	b.running.Add(1)
	defer b.running.Add(-1)
	select {
	case <-b.letGo:
		return &banyan.Result{Status: "ok", Stdout: fmt.Sprintf("%s #%d", j.Code, n)}, nil
	case <-ctx.Done():
		b.cancelled.Add(1)
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "the job was killed: its caller went away")
	}
}

// go1 sends a request in a goroutine and returns where its answer comes.
func (r *rig) go1(ctx context.Context, path, body string, headers ...string) <-chan reply {
	c := make(chan reply, 1)
	go func() { c <- r.send(ctx, "POST", path, body, headers...) }()
	return c
}

func TestB35_CallerThatHangsUpEndsTheRun(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	got := r.go1(ctx, "/v1/execute", `{"code":"sleep"}`)
	eventually(t, "the job runs", func() bool { return b.running.Load() == 1 })
	cancel()
	<-got
	eventually(t, "the job is cancelled", func() bool { return b.cancelled.Load() == 1 })
	eventually(t, "it is logged as such", func() bool { return strings.Contains(r.log.String(), `"status":499`) })
}

func TestHangUpWhileWaitingForATurn(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, func(c *server.Config) { c.MaxConcurrent, c.MaxQueue = 1, 1 })
	first := r.go1(t.Context(), "/v1/execute", `{"code":"a"}`)
	eventually(t, "the first runs", func() bool { return b.running.Load() == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	second := r.go1(ctx, "/v1/execute", `{"code":"b"}`)
	eventually(t, "the second waits", func() bool { return r.do("POST", "/v1/execute", `{`).status == 429 })
	cancel()
	<-second
	eventually(t, "the queue is free again", func() bool { return strings.Contains(r.log.String(), `"status":499`) })
	third := r.go1(t.Context(), "/v1/execute", `{"code":"d"}`)
	close(b.letGo)
	for _, c := range []<-chan reply{first, third} {
		if a := <-c; a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if n := b.calls.Load(); n != 2 {
		t.Errorf("%d runs, want 2: the one that hung up while waiting must not run", n)
	}
}

func TestOverloadIs429(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute, plan: func(context.Context, banyan.Job) (planner.Plan, error) { return planner.Plan{}, nil }},
		func(c *server.Config) { c.MaxConcurrent, c.MaxQueue = 2, 3 })
	var waiting []<-chan reply
	for range 5 {
		waiting = append(waiting, r.go1(t.Context(), "/v1/execute", `{"code":"x"}`))
	}
	var over reply
	eventually(t, "the queue is full", func() bool {
		over = r.do("POST", "/v1/execute", `{"code":"nope`) // not even read
		return over.status == 429
	})
	if p := r.trouble(over, 429); p.Kind != "exhausted" || over.header.Get("Retry-After") != "1" {
		t.Errorf("%+v", p)
	}
	if n := b.running.Load(); n > 2 {
		t.Errorf("%d run at once, 2 are allowed", n)
	}
	for _, path := range []string{"/v1/plan", "/healthz", "/readyz"} { // these get through
		method, body := "GET", ""
		if path == "/v1/plan" {
			method, body = "POST", `{"code":"x"}`
		}
		if a := r.do(method, path, body); a.status != 200 {
			t.Errorf("%s under load: %d", path, a.status)
		}
	}
	close(b.letGo)
	for _, c := range waiting {
		if a := <-c; a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestNoTurnInTimeIs429(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, func(c *server.Config) { c.MaxConcurrent, c.QueueTimeout = 1, 20*time.Millisecond })
	first := r.go1(t.Context(), "/v1/execute", `{"code":"a"}`)
	eventually(t, "the first runs", func() bool { return b.running.Load() == 1 })
	r.trouble(r.do("POST", "/v1/execute", `{"code":"b"}`, "Idempotency-Key: k"), 429)
	close(b.letGo)
	<-first
	// It was not run, so its key is free.
	if a := r.do("POST", "/v1/execute", `{"code":"b"}`, "Idempotency-Key: k"); a.status != 200 || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestBufferedBytesAreBounded(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, func(c *server.Config) { c.MaxBodyBytes, c.MaxBufferedBytes = 64<<10, 100<<10 })
	big := `{"code":"` + strings.Repeat("x", 50<<10) + `"}`
	first := r.go1(t.Context(), "/v1/execute", big)
	eventually(t, "the first runs", func() bool { return b.running.Load() == 1 })
	r.trouble(r.do("POST", "/v1/execute", big), 429)
	small := r.go1(t.Context(), "/v1/execute", `{"code":"x"}`)
	eventually(t, "a small one fits beside it", func() bool { return b.running.Load() == 2 })
	close(b.letGo)
	<-first
	<-small
	if a := r.do("POST", "/v1/execute", big); a.status != 200 {
		t.Errorf("the bytes were not given back: %d", a.status)
	}
}

func TestIdempotencyKey(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, nil)
	const key = "Idempotency-Key: abc"
	first := r.go1(t.Context(), "/v1/execute", `{"code":"a"}`, key)
	eventually(t, "the first runs", func() bool { return b.running.Load() == 1 })
	r.trouble(r.do("POST", "/v1/execute", `{"code":"a"}`, key), 409)
	r.trouble(r.do("POST", "/v1/execute", `{"code":"b"}`, key), 422)
	close(b.letGo)
	one := <-first
	two := r.do("POST", "/v1/execute", `{"code":"a"}`, key)
	if one.status != 200 || two.status != 200 || one.body != two.body || two.header.Get("Idempotent-Replayed") != "true" || one.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("first %d %s, then %d %s %v", one.status, one.body, two.status, two.body, two.header)
	}
	if one.header.Get("X-Request-Id") == two.header.Get("X-Request-Id") || two.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", two.header)
	}
	r.trouble(r.do("POST", "/v1/execute", `{"code":"b"}`, key), 422)
	if n := b.calls.Load(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	if a := r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: other"); !strings.Contains(a.body, "#2") {
		t.Errorf("another key: %s", a.body)
	}
	for _, bad := range []string{"ü", strings.Repeat("x", 256), "a b"} {
		r.trouble(r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: "+bad), 400)
	}
	// A request that cannot be decoded leaves its key free.
	r.trouble(r.do("POST", "/v1/execute", `{"cod":"a"}`, "Idempotency-Key: free"), 400)
	if a := r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: free"); a.status != 200 {
		t.Errorf("%d", a.status)
	}
}

func TestIdempotencyAfterFailures(t *testing.T) {
	for kind, again := range map[errs.Kind]bool{
		errs.Invalid: true, errs.Unavailable: true, errs.Unsupported: true, errs.Exhausted: true, errs.Conflict: true,
		errs.RungFailed: false, errs.Internal: false, errs.Timeout: false,
	} {
		runs := 0
		r := start(t, &fake{
			execute: func(context.Context, banyan.Job) (*banyan.Result, error) {
				runs++
				return nil, errs.New(kind, "the sentence")
			},
			warm: func(context.Context, banyan.WarmRequest) (banyan.Snapshot, error) {
				return banyan.Snapshot{}, errs.New(kind, "the sentence")
			},
		}, nil)
		for range 2 {
			r.trouble(r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: k"), kind.HTTPStatus())
			r.trouble(r.do("POST", "/v1/warm", `{}`, "Idempotency-Key: k"), kind.HTTPStatus())
		}
		if (runs == 2) != again {
			t.Errorf("%s: %d runs", kind, runs)
		}
	}
}

func TestIdempotencyAfterAHangUp(t *testing.T) {
	b := newBlocker()
	r := start(t, &fake{execute: b.execute}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	got := r.go1(ctx, "/v1/execute", `{"code":"a"}`, "Idempotency-Key: k")
	eventually(t, "the job runs", func() bool { return b.running.Load() == 1 })
	cancel()
	<-got
	eventually(t, "the job is cancelled", func() bool { return strings.Contains(r.log.String(), `"status":499`) })
	close(b.letGo)
	p := r.trouble(r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: k"), 409)
	if !strings.Contains(p.Message, "cut off") || b.calls.Load() != 1 {
		t.Errorf("%+v after %d runs", p, b.calls.Load())
	}
}

func TestManyRepeatsRunOnce(t *testing.T) {
	var calls atomic.Int64
	r := start(t, &fake{execute: func(context.Context, banyan.Job) (*banyan.Result, error) {
		calls.Add(1)
		return &banyan.Result{}, nil
	}}, nil)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if a := r.do("POST", "/v1/execute", `{"code":"a"}`, "Idempotency-Key: k"); a.status != 200 && a.status != 409 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}

func TestSlowBodiesAreCutOff(t *testing.T) {
	r := start(t, &fake{
		execute: func(context.Context, banyan.Job) (*banyan.Result, error) { return &banyan.Result{}, nil },
		imports: func(_ context.Context, rd io.Reader, _ banyan.ImportOptions) (banyan.ImportReport, error) {
			_, err := io.Copy(io.Discard, rd)
			return banyan.ImportReport{}, err
		},
	}, func(c *server.Config) { c.BodyTimeout, c.ImportTimeout = 30*time.Millisecond, 30*time.Millisecond })
	for _, line := range []string{"POST /v1/execute", "PUT /graphs?graph=urn:x"} {
		a := r.raw(line + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + typeFor(line) + "\r\nContent-Length: 100\r\n\r\n{")
		if !strings.HasPrefix(a, "HTTP/1.1 408 ") {
			t.Errorf("%s: %q", line, a)
		}
	}
}

func TestBodyDeadlineDoesNotEndTheRun(t *testing.T) {
	const bodyTimeout = 20 * time.Millisecond
	r := start(t, &fake{
		execute: func(ctx context.Context, _ banyan.Job) (*banyan.Result, error) {
			return &banyan.Result{}, outlive(ctx, bodyTimeout)
		},
		imports: func(ctx context.Context, rd io.Reader, _ banyan.ImportOptions) (banyan.ImportReport, error) {
			if _, err := io.Copy(io.Discard, rd); err != nil {
				return banyan.ImportReport{}, err
			}
			return banyan.ImportReport{Replaced: 1}, outlive(ctx, bodyTimeout)
		},
		status: func(ctx context.Context) (banyan.Status, error) { return banyan.Status{}, outlive(ctx, bodyTimeout) },
	}, func(c *server.Config) {
		c.BodyTimeout, c.ImportTimeout, c.WriteTimeout = bodyTimeout, bodyTimeout, bodyTimeout
	})
	for range 3 { // on one connection, after one another
		if a := r.do("POST", "/v1/execute", `{"code":"a"}`); a.status != 200 {
			t.Errorf("execute: %d %s", a.status, a.body)
		}
		if a := r.do("PUT", "/graphs?graph=urn:x", "x", "Content-Type: text/turtle"); a.status != 200 {
			t.Errorf("import: %d %s", a.status, a.body)
		}
		if a := r.do("GET", "/v1/status", ""); a.status != 200 {
			t.Errorf("status: %d %s", a.status, a.body)
		}
	}
}

// outlive runs four times as long as a bound that must not reach it.
func outlive(ctx context.Context, bound time.Duration) error {
	timer := time.NewTimer(4 * bound)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, ctx.Err(), "cancelled")
	case <-timer.C:
		return nil
	}
}
