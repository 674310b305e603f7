package forkserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// Boot starts a parent for spec and returns it sealed, or leaves nothing.
func (r *Rung) Boot(ctx context.Context, spec rungs.Spec) (rungs.Parent, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if !slices.Contains(r.Traits().Languages, spec.Runtime.Language) {
		return nil, errs.New(errs.Unsupported, "the forkserver rung cannot boot %s", spec.Runtime.Language)
	}
	exe, err := pyhost.FindExecutable(spec.Runtime.Executable)
	if err != nil {
		return nil, err
	}
	h, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.booting.Done()
	begin := time.Now()
	p, err := r.start(h, exe, spec)
	if err != nil {
		return nil, err
	}
	boot := agent.Boot{Op: agent.OpBoot, Walls: r.walls()}
	if err := p.warmUp(ctx, &boot, spec); err != nil {
		p.abandon(err)
		return nil, err
	}
	p.opened(begin)
	return p, nil
}

// walls is what an agent shall put up.
func (r *Rung) walls() agent.Walls {
	return agent.Walls{Hostname: "banyan", Seccomp: r.filter, Require: r.required()}
}

// required names the walls without which nothing runs. Landlock's scopes are not
// among them: they double what the PID and network namespaces do already, and
// kernels before 6.12 do not have them.
func (r *Rung) required() []string {
	need := []string{"pid", "mnt", "net", "ipc", "uts", "root", "files", "uid", "capabilities", "no_new_privs"}
	if !r.cfg.AllowDegraded {
		need = append(need, "seccomp", "cgroup")
	}
	return need
}

// start starts a trunk's process and its goroutines.
func (r *Rung) start(h *host, exe string, spec rungs.Spec) (*parent, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, errs.Wrap(errs.RungFailed, err, "a parent could not be started")
	}
	defer null.Close() // a read end has nothing to lose
	conn, theirs, err := agent.Pair()
	if err != nil {
		return nil, errs.Wrap(errs.RungFailed, err, "a parent could not be started")
	}
	defer theirs.Close() // the agent has its copy
	logR, logW, err := os.Pipe()
	if err != nil {
		_ = conn.Close()
		return nil, errs.Wrap(errs.RungFailed, err, "a parent could not be started")
	}
	defer logW.Close() // the agent has its copy
	if err := blocking(logW); err != nil {
		_ = errors.Join(conn.Close(), logR.Close())
		return nil, errs.Wrap(errs.RungFailed, err, "a parent could not be started")
	}
	process, err := h.starter.Start(exe, append(append([]string{exe}, spec.Runtime.Args...), "-I", agent.SourcePath, agent.ModeAgent), &os.ProcAttr{
		Dir:   "/",
		Env:   pyhost.Environ(spec.Env),
		Files: []*os.File{null, logW, logW, theirs, h.source},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		_ = errors.Join(conn.Close(), logR.Close())
		return nil, errs.Wrap(errs.RungFailed, err, "the interpreter could not be started")
	}
	pidfd, err := unix.PidfdOpen(process.Pid, 0)
	if err != nil {
		_ = errors.Join(conn.Close(), logR.Close(), process.Kill())
		_, _ = process.Wait()
		return nil, errs.Wrap(errs.RungFailed, err, "a parent could not be started")
	}
	r.trunks.Go(func() { _, _ = process.Wait() }) // its end is told by the control socket
	return r.newParent(h, conn, process.Pid, pidfd, logR, spec), nil
}

// warmUp brings a new agent to the point where it is sealed: boot (nil for a
// branch), load, seal.
func (p *parent) warmUp(ctx context.Context, boot *agent.Boot, add rungs.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, p.rung.cfg.BootTimeout)
	defer cancel()
	var hello agent.Hello
	if boot != nil {
		if err := p.ask(ctx, *boot, agent.OpHello, &hello); err != nil {
			return err
		}
	} else if err := p.await(ctx, agent.OpHello, &hello); err != nil {
		return err
	}
	if hello.Protocol != agent.Version {
		return errs.New(errs.RungFailed, "the agent speaks protocol %d, not %d", hello.Protocol, agent.Version)
	}
	load := agent.Load{Op: agent.OpLoad, Modules: []agent.LoadModule{}, Setup: add.Setup}
	for _, m := range add.Modules {
		load.Modules = append(load.Modules, agent.LoadModule{Name: m.ImportName})
	}
	var loaded agent.Loaded
	if err := p.ask(ctx, load, agent.OpLoaded, &loaded); err != nil {
		return err
	}
	versions := make(map[string]string, len(loaded.Modules))
	for _, m := range loaded.Modules {
		versions[m.Name] = m.Version
	}
	if err := pyhost.CheckVersions(add, versions); err != nil {
		return err
	}
	var sealed agent.Sealed
	if err := p.ask(ctx, agent.Plain{Op: agent.OpSeal}, agent.OpSealed, &sealed); err != nil {
		return err
	}
	p.holds = pyhost.Holdings(p.spec, sealed.Holds)
	p.resident = max(sealed.ResidentBytes, 0)
	return nil
}
