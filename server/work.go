package server

import (
	"bytes"
	"context"
	"net/http"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// prepared is a request that has been read and understood: what is left to do.
type prepared func(ctx context.Context) (answer, error)

// task is a route that makes the engine work.
type task struct {
	// prepare decodes; it calls nothing.
	prepare func(c *call) (prepared, error)
	// harmless says that doing it twice is no harm, so that a repeated request
	// after an error may simply try again.
	harmless bool
	// light says that it takes no runner: it must get through while all are busy.
	light bool
	// emptyBody says that the request may have no body.
	emptyBody bool
}

// work runs a task within the bounds: a place, the body, a slot; and once only,
// if the request carries an Idempotency-Key.
func (s *Server) work(t task) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		lim := s.runs
		if t.light {
			lim = s.light
		}
		leave, err := lim.enter()
		if err != nil {
			return answer{}, err
		}
		defer leave()
		defer func() { s.buffered.give(c.reserved) }()
		key, err := idempotencyKey(c.r.Header)
		if err != nil {
			return answer{}, err
		}
		run, err := s.prepare(t, c)
		if err != nil {
			return answer{}, err
		}
		if key == "" {
			a, _, err := turn(ctx, lim, run)
			return a, err
		}
		return s.once(ctx, c, t, key, func(ctx context.Context) (answer, bool, error) { return turn(ctx, lim, run) })
	}
}

// prepare reads and decodes.
func (s *Server) prepare(t task, c *call) (prepared, error) {
	if _, err := c.query(); err != nil {
		return nil, err
	}
	if _, err := mediaType(c.r.Header, typeJSON); err != nil {
		return nil, err // before the body is read
	}
	var err error
	if c.body, err = s.readBody(c); err != nil {
		return nil, err
	}
	if len(c.body) == 0 && t.emptyBody {
		c.body = []byte("{}")
		c.r.Header.Set("Content-Type", typeJSON)
	}
	return t.prepare(c)
}

// turn waits for a slot and runs; started says whether it came to that.
func turn(ctx context.Context, lim *limiter, run prepared) (a answer, started bool, err error) {
	release, err := lim.acquire(ctx)
	if err != nil {
		return answer{}, false, err
	}
	defer release()
	a, err = run(ctx)
	return a, true, err
}

// once runs a request with a key, or answers it with what the first one got.
// The key holds for one path: what a path means never depends on the key.
func (s *Server) once(ctx context.Context, c *call, t task, key string, run func(context.Context) (answer, bool, error)) (a answer, err error) {
	e, first, err := s.answers.begin(c.r.URL.Path+"\x00"+key, c.body)
	if err != nil {
		return answer{}, err
	}
	if !first {
		return replay(e)
	}
	started, finished := false, false
	defer func() {
		switch {
		case !started || finished && err != nil && (t.harmless || ranNothing(err)):
			s.answers.forget(e)
		case !finished: // a panic: what has been done nobody knows
			s.answers.finish(e, answer{}, errs.New(errs.Internal, "the first request with this key panicked"))
		case errs.KindOf(err) == errs.Canceled || ctx.Err() != nil && err != nil:
			s.answers.finish(e, answer{}, errs.New(errs.Conflict, "the first request with this Idempotency-Key was cut off while it ran").
				WithHint("use a new key to run it again"))
		default:
			s.answers.finish(e, a, err)
		}
	}()
	started = true
	var ran bool
	a, ran, err = run(ctx)
	if err == nil {
		a, err = a.kept(ctx, s.answers.largest())
	}
	started, finished = ran, true
	return a, err
}

// replay answers with what the first request got.
func replay(e *remembered) (answer, error) {
	if e.err != nil {
		return answer{}, e.err
	}
	a := e.answer
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set("Idempotent-Replayed", "true")
	return a, nil
}

// kept returns the answer in the form in which it can be sent again: as bytes,
// unless they are more than most.
func (a answer) kept(ctx context.Context, most int64) (answer, error) {
	if a.stream == nil || a.length > most {
		return a.encoded()
	}
	buf := bytes.NewBuffer(make([]byte, 0, a.length))
	if err := a.stream(ctx, buf); err != nil {
		return a, errs.Wrap(errs.Internal, err, "encode an answer")
	}
	a.raw, a.stream, a.length = buf.Bytes(), nil, 0
	return a, nil
}

// encoded returns the answer with its body as bytes.
func (a answer) encoded() (answer, error) {
	if a.raw != nil || a.body == nil {
		return a, nil
	}
	raw, err := encode(a.body)
	if err != nil {
		return a, errs.Wrap(errs.Internal, err, "encode an answer")
	}
	a.raw, a.body = raw, nil
	return a, nil
}
