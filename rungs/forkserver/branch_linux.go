package forkserver

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// Branch forks the agent, adds what add has beyond this parent, and returns
// the fork sealed. It is a child of this parent's process but not of this
// parent: closing or losing the one leaves the other.
func (p *parent) Branch(ctx context.Context, add rungs.Spec) (rungs.Parent, error) {
	if err := add.Validate(); err != nil {
		return nil, err
	}
	if add.Runtime.ID != p.spec.Runtime.ID || add.Runtime.Executable != p.spec.Runtime.Executable {
		return nil, errs.New(errs.Invalid, "a branch keeps its base's runtime, %s", p.spec.Runtime.ID)
	}
	for k, v := range add.Env {
		if have, ok := p.spec.Env[k]; !ok || have != v {
			return nil, errs.New(errs.Invalid, "a branch keeps its base's environment; variable %q differs", k)
		}
	}
	if _, err := p.rung.open(ctx); err != nil {
		return nil, err
	}
	defer p.rung.booting.Done()
	begin := time.Now()
	b, err := p.split(ctx, merge(p.spec, add))
	if err != nil {
		return nil, err
	}
	if add.Setup == p.spec.Setup {
		add.Setup = "" // has been run
	}
	if err := b.warmUp(ctx, nil, add); err != nil {
		b.abandon(err)
		return nil, err
	}
	b.opened(begin)
	return b, nil
}

// split has the agent fork an agent.
func (p *parent) split(ctx context.Context, spec rungs.Spec) (*parent, error) {
	conn, theirs, err := agent.Pair()
	if err != nil {
		return nil, errs.Wrap(errs.RungFailed, err, "a branch could not be started")
	}
	defer theirs.Close() // the agent has its copy
	logR, logW, err := os.Pipe()
	if err != nil {
		_ = conn.Close()
		return nil, errs.Wrap(errs.RungFailed, err, "a branch could not be started")
	}
	defer logW.Close() // the agent has its copy
	if err = blocking(logW); err == nil {
		var a answer
		if a, err = p.askBranch(ctx, theirs, logW); err == nil {
			var forked agent.Forked
			if err = agent.Decode(a.body, &forked); err == nil && len(a.fds) == 1 {
				return p.rung.newParent(p.host, conn, forked.PID, a.fds[0], logR, spec), nil
			}
			agent.CloseAll(a.fds)
			p.fail("the parent process broke its protocol", err)
			err = errs.New(errs.RungFailed, "the parent process broke its protocol")
		}
	}
	return nil, errors.Join(err, conn.Close(), logR.Close())
}

func (p *parent) askBranch(ctx context.Context, control, log *os.File) (answer, error) {
	p.mu.Lock()
	p.next++
	id := "b" + strconv.Itoa(p.next)
	p.mu.Unlock()
	return p.requestWithin(ctx, agent.Branch{Op: agent.OpBranch, ID: id}, agent.OpForked, []*os.File{control, log})
}
