package forkserver

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/internal/cgroup"
	"github.com/seed-ff860830/banyan/rungs/internal/pyhost"
)

// Name is the rung's name.
const Name = ontology.RungName("forkserver")

// Rung is the forkserver rung. Its methods are safe for concurrent use.
type Rung struct {
	cfg    Config
	uids   *uids
	filter []byte // the seccomp filter; nil if there is none for this machine

	mu      sync.Mutex
	closed  bool
	host    *host
	parents map[*parent]struct{}
	probed  time.Time
	probe   error
	trial   sync.Mutex     // one probe at a time
	booting sync.WaitGroup // boots and branches; added to under mu while not closed
	trunks  sync.WaitGroup // processes that we have to wait for, and their logs
}

// host is what the rung holds of this machine once it has been needed.
type host struct {
	starter *pyhost.Starter
	groups  *cgroup.Manager
	source  *os.File
	claims  *claims // nil if ids are not claimed
}

var _ rungs.Rung = (*Rung)(nil)

// New returns the rung. It touches nothing of the machine: Probe and Boot do.
func New(cfg Config) (*Rung, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Rung{
		cfg:     cfg,
		uids:    newUIDs(cfg.UIDBase, cfg.UIDCount),
		filter:  seccompFilter(),
		parents: map[*parent]struct{}{},
	}, nil
}

// Name returns "forkserver".
func (r *Rung) Name() ontology.RungName { return Name }

// Traits says what the rung offers.
func (r *Rung) Traits() rungs.Traits { return traits() }

// open returns what the rung holds of this machine, and takes hold of it the
// first time.
// The caller calls booting.Done when its parent is up or gone.
func (r *Rung) open(ctx context.Context) (*host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errs.New(errs.Conflict, "the forkserver rung is closed")
	}
	if r.host != nil {
		r.booting.Add(1)
		return r.host, nil
	}
	if err := checkRights(); err != nil {
		return nil, err
	}
	h, err := r.takeHold(ctx)
	if err != nil {
		return nil, err
	}
	r.host = h
	r.booting.Add(1)
	return h, nil
}

// takeHold makes what the rung needs of this machine; mu is held. What a daemon
// left that ended without closing is swept.
func (r *Rung) takeHold(ctx context.Context) (*host, error) {
	claims, err := openClaims(claimFile)
	switch {
	case err == nil:
		r.uids.claim = claims.claim
	case r.cfg.AllowDegraded:
		r.cfg.Logger.Warn("user ids for jobs are not held against other daemons", "err", err)
		r.uids.claim = func(int, int) (bool, error) { return true, nil }
	default:
		return nil, errs.Wrap(errs.Unavailable, err, "user ids for jobs cannot be claimed: /run takes no file").
			WithHint("mount -t tmpfs tmpfs /run")
	}
	groups, err := cgroup.Open(cgroup.Config{Root: r.cfg.CgroupRoot, Degraded: r.cfg.AllowDegraded})
	if err != nil {
		_ = claims.close()
		return nil, err
	}
	// What does not end in time must not hold up the rung, and is tried again
	// by the next daemon.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if swept, err := groups.Sweep(ctx); err != nil || len(swept) > 0 {
		r.cfg.Logger.Info("swept control groups of a daemon that is gone", "groups", swept, "err", err)
	}
	source, err := pyhost.SourceFile()
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, errors.Join(err, groups.Close(ctx), claims.close()), "the agent cannot be made ready")
	}
	return &host{starter: pyhost.NewStarter(), groups: groups, source: source, claims: claims}, nil
}

// rights are the capabilities that walls around jobs take.
var rights = []struct {
	bit  int
	name string
}{
	{unix.CAP_SYS_ADMIN, "SYS_ADMIN"},
	{unix.CAP_SETUID, "SETUID"},
	{unix.CAP_SETGID, "SETGID"},
	{unix.CAP_SETPCAP, "SETPCAP"},
	{unix.CAP_CHOWN, "CHOWN"},
	{unix.CAP_KILL, "KILL"},
}

// effective returns this process's effective capabilities.
func effective() (uint64, error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return 0, errs.Wrap(errs.Unavailable, err, "the daemon's capabilities cannot be read")
	}
	return uint64(data[0].Effective) | uint64(data[1].Effective)<<32, nil
}

// checkRights returns an Unavailable error unless the daemon has the rights
// that namespaces and foreign uids take.
func checkRights() error {
	have, err := effective()
	if err != nil {
		return err
	}
	var missing []string
	for _, c := range rights {
		if have&(1<<c.bit) == 0 {
			missing = append(missing, "CAP_"+c.name)
		}
	}
	if len(missing) > 0 {
		return errs.New(errs.Unavailable, "the daemon lacks %s, which walls around jobs take", strings.Join(missing, ", ")).
			WithHint("sudo banyan serve")
	}
	return nil
}

// add takes a parent into the rung's books; false if the rung is closed.
func (r *Rung) add(p *parent) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.parents[p] = struct{}{}
	return true
}

func (r *Rung) remove(p *parent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parents, p)
}

// Close closes what parents are left and lets go of the machine.
func (r *Rung) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	left := make([]*parent, 0, len(r.parents))
	for p := range r.parents {
		left = append(left, p)
	}
	h := r.host
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range left {
		all.Go(func() { _ = p.Close("the rung is closed") })
	}
	all.Wait()
	if h == nil {
		return nil
	}
	r.booting.Wait()
	h.starter.Close() // whoever still runs dies with the thread
	r.trunks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(h.groups.Close(ctx), h.source.Close(), h.claims.close())
}

// closeTimeout bounds each wait of a close.
const closeTimeout = 10 * time.Second
