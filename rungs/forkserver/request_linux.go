package forkserver

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// sendTimeout bounds the writing of one frame to an agent, which reads at once
// unless it hangs.
const sendTimeout = 10 * time.Second

// maxMessage bounds what an agent's error may say: it goes to the caller.
const maxMessage = 4 << 10

// answer is one frame that answers a request.
type answer struct {
	op   string
	body []byte
	fds  []int
}

// ask makes a request and decodes the answer of the wanted kind into out.
func (p *parent) ask(ctx context.Context, frame any, want string, out any) error {
	a, err := p.request(ctx, frame, want, nil)
	if err != nil {
		return err
	}
	agent.CloseAll(a.fds)
	return p.decode(a, out)
}

// request sends a frame and waits for its answer. Once it is sent, a ctx that
// ends fails the parent: its answer could not be told from the next one.
func (p *parent) request(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	done, err := p.myTurn(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	return p.exchange(ctx, frame, want, files)
}

// requestWithin is request for a parent that is in use: a caller that goes
// away must not cost it its life, a fork that hangs must. The time of a fork
// runs from its turn on: those who wait in front of it are not its hang.
func (p *parent) requestWithin(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	done, err := p.myTurn(ctx)
	if err != nil {
		return answer{}, err
	}
	defer done()
	watch, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.rung.cfg.ForkTimeout)
	defer cancel()
	a, err := p.exchange(watch, frame, want, files)
	if err != nil && watch.Err() != nil {
		err = errs.Wrap(errs.RungFailed, err, "the parent process hangs in a fork")
	}
	return a, err
}

// myTurn waits for the right to make a request, which ends with done.
func (p *parent) myTurn(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, contextError(ctx)
	case <-p.lost:
		p.mu.Lock()
		defer p.mu.Unlock()
		return nil, p.usable()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(); err != nil {
		<-p.turn
		return nil, err
	}
	return func() { <-p.turn }, nil
}

// exchange sends a frame and waits for its answer. The caller has the turn.
func (p *parent) exchange(ctx context.Context, frame any, want string, files []*os.File) (answer, error) {
	if err := p.conn.Send(sendTimeout, frame, files...); err != nil {
		p.fail("the parent process does not read", err)
		return answer{}, errs.Wrap(errs.RungFailed, err, "the parent process does not answer")
	}
	return p.wait(ctx, want)
}

func (p *parent) wait(ctx context.Context, want string) (answer, error) {
	select {
	case a := <-p.answers:
		if a.op == want {
			return a, nil
		}
		agent.CloseAll(a.fds)
		return answer{}, p.refusal(a)
	case <-p.lost:
		return answer{}, errs.New(errs.RungFailed, "the parent process ended")
	case <-ctx.Done():
		p.fail("the parent process hangs", ctx.Err())
		return answer{}, contextError(ctx)
	}
}

// await takes an answer that needs no request: a branch's hello.
func (p *parent) await(ctx context.Context, want string, out any) error {
	a, err := p.wait(ctx, want)
	if err != nil {
		return err
	}
	agent.CloseAll(a.fds)
	return p.decode(a, out)
}

func (p *parent) decode(a answer, out any) error {
	if err := agent.Decode(a.body, out); err != nil {
		p.fail("the parent process broke its protocol", err)
		return errs.Wrap(errs.RungFailed, err, "the parent process broke its protocol")
	}
	return nil
}

// refusal turns an answer that was not wanted into an error.
func (p *parent) refusal(a answer) error {
	var e agent.Error
	if a.op != agent.OpError || agent.Decode(a.body, &e) != nil {
		p.fail("the parent process broke its protocol", nil)
		return errs.New(errs.RungFailed, "the parent process broke its protocol")
	}
	e.Message, e.Module = agent.Clip(e.Message, maxMessage), agent.Clip(e.Module, rungs.MaxNameBytes)
	switch e.Code {
	case agent.CodeImport:
		return errs.New(errs.Invalid, "module %s cannot be imported: %s", e.Module, e.Message)
	case agent.CodeSetup:
		return errs.New(errs.Invalid, "the set-up code failed: %s", e.Message)
	case agent.CodeNotForkSafe:
		return errs.New(errs.Unsupported, "the parent is not fork-safe: %s", e.Message).
			WithHint("run it on a rung without warm forks, or import a library that starts no threads")
	case agent.CodeWall:
		return errs.Wrap(errs.Unavailable, errors.New(e.Message), "the wall %q cannot be put up here", e.Module)
	}
	return errs.Wrap(errs.RungFailed, errors.New(e.Message), "the parent process refused: %.32s", e.Code)
}

func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errs.Wrap(errs.Timeout, ctx.Err(), "the parent took too long")
	}
	return errs.Wrap(errs.Canceled, ctx.Err(), "the caller went away")
}
