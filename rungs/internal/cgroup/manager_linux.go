package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/rungs/internal/owner"
)

// prefix is what the names of bases begin with.
const prefix = "banyan"

// hierarchy is one tree of groups that the leaves live in.
type hierarchy struct {
	version     int
	own         string // where bases lie
	base        string // ours
	controllers []Controller
	kill        bool // it has cgroup.kill
}

func (h *hierarchy) has(c Controller) bool { return slices.Contains(h.controllers, c) }

// Manager makes leaves. Its methods are safe for concurrent use.
type Manager struct {
	root   string
	me     owner.Owner
	trees  []*hierarchy
	report Report

	mu     sync.Mutex
	closed bool
}

// Open finds the controllers that cfg asks for, makes a base for the leaves and
// tries it with a probe leaf. It returns an Unavailable error that names each
// required controller that is missing, unless cfg.Degraded; with it a Manager
// without any controller can be the result, and its leaves hold nothing.
func Open(cfg Config) (*Manager, error) {
	me, err := owner.Self(cfg.Root)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "this process cannot be identified in /proc")
	}
	m := &Manager{root: cfg.Root, me: me}
	mounts, err := detect(cfg.Root)
	if err != nil {
		mounts = nil // no /proc/self/cgroup: a kernel without control groups
	}
	missing := m.claim(mounts, cfg.all(), me.Name(prefix))
	m.probe(missing)
	for _, c := range cfg.all() {
		if why, ok := missing[c]; ok {
			m.report.Missing = append(m.report.Missing, why.Error())
		}
	}
	for _, c := range cfg.required() {
		if _, ok := missing[c]; ok && !cfg.Degraded {
			_ = m.Close(context.Background())
			return nil, errs.New(errs.Unavailable, "jobs cannot be limited: %s", strings.Join(m.report.Missing, "; ")).
				WithHint("run the daemon as root, or as a systemd service with Delegate=yes")
		}
	}
	m.fill()
	return m, nil
}

// claim makes the bases and returns the reason for each controller that cannot
// be had.
func (m *Manager) claim(mounts []mount, want []Controller, name string) map[Controller]error {
	missing := map[Controller]error{}
	for _, c := range want {
		missing[c] = fmt.Errorf("no control group hierarchy with the %s controller is mounted", c)
	}
	for _, mt := range mounts {
		h := &hierarchy{version: mt.version, own: outer(mt.own)}
		h.base = h.own + "/" + name
		asked := slices.DeleteFunc(slices.Clone(want), func(c Controller) bool {
			_, open := missing[c]
			return !open || mt.version == 1 && !slices.Contains(mt.controllers, c)
		})
		if mt.version == 1 && len(asked) == 0 {
			continue
		}
		if err := mkdir(h.base); err != nil {
			for _, c := range asked {
				missing[c] = fmt.Errorf("a control group for %s cannot be made: %w", c, bare(err))
			}
			continue
		}
		for _, c := range asked {
			if err := m.take(h, c); err != nil {
				missing[c] = err
				continue
			}
			h.controllers = append(h.controllers, c)
			delete(missing, c)
		}
		h.kill = mt.version == 2 && exists(h.base+"/cgroup.kill")
		if len(h.controllers) == 0 && !h.kill {
			_ = rmdir(h.base)
			continue
		}
		m.trees = append(m.trees, h)
	}
	return missing
}

// take makes a controller ready for the leaves of h.
func (m *Manager) take(h *hierarchy, c Controller) error {
	if h.version == 1 {
		return nil
	}
	if err := delegate(h.own, h.base, c); err != nil {
		return err
	}
	if err := write(h.base+"/cgroup.subtree_control", "+"+string(c)); err != nil {
		return fmt.Errorf("the %s controller cannot be handed on: %w", c, bare(err))
	}
	return nil
}

// probe makes a leaf, sets each limit, reads it back, and moves to missing
// what did not hold.
func (m *Manager) probe(missing map[Controller]error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	m.trees = slices.DeleteFunc(m.trees, func(h *hierarchy) bool {
		dir := h.base + "/probe"
		err := mkdir(dir)
		if err == nil && !exists(dir+"/cgroup.procs") {
			err = errors.New("what is mounted there is not a control group")
		}
		h.controllers = slices.DeleteFunc(h.controllers, func(c Controller) bool {
			why := err
			if why == nil {
				why = probeController(h.version, dir, c)
			}
			if why != nil {
				missing[c] = fmt.Errorf("the %s controller does not hold its limits: %w", c, bare(why))
			}
			return why != nil
		})
		_ = removeTree(ctx, dir)
		useless := err != nil || len(h.controllers) == 0 && !h.kill
		if useless {
			_ = removeTree(ctx, h.base)
		}
		return useless
	})
}

// probeController sets a limit in dir and reads it back.
func probeController(version int, dir string, c Controller) error {
	const memory, pids = 64 << 20, 16
	l := leafDir{version, dir}
	switch c {
	case Memory:
		if err := l.setMemory(memory); err != nil {
			return err
		}
		if _, err := l.oomKills(); err != nil {
			return err
		}
		got, err := readInt(dir + "/" + l.name("memory.limit_in_bytes", "memory.max"))
		if err == nil && got != memory {
			err = fmt.Errorf("%d bytes were asked for and %d set", memory, got)
		}
		return err
	case PIDs:
		if err := l.setPIDs(pids); err != nil {
			return err
		}
		got, err := readInt(dir + "/pids.max")
		if err == nil && got != pids {
			err = fmt.Errorf("%d processes were asked for and %d set", pids, got)
		}
		return err
	case CPU:
		return l.setCPU(1)
	default:
		return errors.New("it is not known here")
	}
}

// fill writes the report from what is left after the probe.
func (m *Manager) fill() {
	for _, h := range m.trees {
		name := "cgroup-v" + strconv.Itoa(h.version)
		if h.has(Memory) {
			m.report.Memory = name
		}
		if h.has(PIDs) {
			m.report.PIDs = name
		}
		if h.has(CPU) {
			m.report.CPU = name
		}
		m.report.Kill = m.report.Kill || h.kill
	}
}

// Report says what the leaves have in force.
func (m *Manager) Report() Report {
	r := m.report
	r.Missing = slices.Clone(r.Missing)
	return r
}

// Close removes the bases and every leaf that is left, with what runs in it.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	done := m.closed
	m.closed = true
	m.mu.Unlock()
	if done {
		return nil
	}
	var all error
	for _, h := range m.trees {
		all = errors.Join(all, m.removeBase(ctx, h))
	}
	return all
}

// removeBase removes one base. If the daemon itself has moved into it, it
// moves back; where the kernel refuses that (the controllers are still handed
// on), the base stays and the next daemon sweeps it.
func (m *Manager) removeBase(ctx context.Context, h *hierarchy) error {
	if pids, err := readPIDs(h.base + "/" + daemonGroup); err == nil && slices.Contains(pids, os.Getpid()) {
		if err := write(h.own+"/cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
			return removeBelow(ctx, h.base, daemonGroup, maxDepth)
		}
	}
	return removeTree(ctx, h.base)
}

// Sweep removes the bases of daemons that have ended without removing them,
// and kills what still runs in there. It touches nothing but directories of
// exactly our form whose owner is certainly gone. It returns their names.
func (m *Manager) Sweep(ctx context.Context) (removed []string, err error) {
	for _, h := range m.trees {
		entries, readErr := os.ReadDir(h.own)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		for _, e := range entries {
			o, ours := owner.Parse(prefix, e.Name())
			if !ours || !e.IsDir() || !o.Gone(m.root, m.me) {
				continue
			}
			dir := path.Join(h.own, e.Name())
			if rmErr := removeTree(ctx, dir); rmErr != nil {
				err = errors.Join(err, rmErr)
				continue
			}
			if !slices.Contains(removed, e.Name()) {
				removed = append(removed, e.Name())
			}
		}
	}
	if err != nil {
		return removed, errs.Wrap(errs.Unavailable, err, "control groups of an earlier daemon could not be removed")
	}
	return removed, nil
}

// bare strips an error of the path it happened at.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var no unix.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}
