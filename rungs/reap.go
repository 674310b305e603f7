package rungs

import (
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// reapEveryTick is the registry's own goroutine.
func (r *Registry) reapEveryTick() {
	tick := time.NewTicker(r.cfg.Tick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.Reap(false)
		case <-r.ctx.Done():
			return
		}
	}
}

// Reap closes the parents that have been idle too long and those past their
// age, or with all every parent that is not in use, and returns how many when
// they are closed. None with a lease is closed; one past its age takes no
// further lease. A trunk is not idle while a branch of it lives: it shares its
// pages with the branch, so closing it would free little.
func (r *Registry) Reap(all bool) int {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return 0
	}
	now := r.cfg.Now()
	var out []*entry
	for again := true; again; { // a branch that goes may leave its trunk idle
		again = false
		held := r.bases()
		for _, e := range r.entries {
			reason := r.due(e, now, held[e.live.ID], all)
			if reason == "" {
				continue
			}
			r.retire(e, reason)
			if e.leases == 0 {
				r.drop(e)
				out, again = append(out, e), true
			}
		}
	}
	r.wg.Add(1) // under the lock: Close waits for what was begun before it
	r.mu.Unlock()
	defer r.wg.Done()
	r.finishAll(out)
	return len(out)
}

// due says why e should go, "" if it should not; Registry.mu is held.
func (r *Registry) due(e *entry, now time.Time, trunk, all bool) string {
	switch {
	case e.retired != "":
		return e.retired
	case now.Sub(e.live.Created) >= r.cfg.MaxAge:
		return ReasonAge
	case e.leases > 0:
		return ""
	case all:
		if trunk {
			return ""
		}
		return ReasonReaped
	case !trunk && now.Sub(e.lastUsed) >= r.cfg.Idle:
		return ReasonIdle
	}
	return ""
}

// Remove closes the parent id, at once if it is not in use, else when its last
// lease ends; until then it takes no new one. It reports whether the parent
// was there.
func (r *Registry) Remove(id ontology.SnapshotID) bool {
	r.mu.Lock()
	e := r.entries[id]
	if r.closed || e == nil {
		r.mu.Unlock()
		return false
	}
	r.retire(e, ReasonRemoved)
	if e.leases > 0 {
		r.mu.Unlock()
		return true
	}
	r.drop(e)
	r.wg.Add(1)
	r.mu.Unlock()
	defer r.wg.Done()
	r.finish(e, e.retired)
	return true
}

// finishAll closes entries that have left the registry, leaves before trunks,
// those of one depth at the same time.
func (r *Registry) finishAll(out []*entry) {
	for len(out) > 0 {
		trunks := map[ontology.SnapshotID]bool{}
		for _, e := range out {
			trunks[e.live.DerivedFrom] = true
		}
		var wg sync.WaitGroup
		var rest []*entry
		for _, e := range out {
			if trunks[e.live.ID] {
				rest = append(rest, e)
				continue
			}
			wg.Go(func() { r.finish(e, e.retired) })
		}
		wg.Wait()
		out = rest
	}
}

// Close takes no new lease, ends the warm-ups, waits for the leases (for Drain
// at the most), closes every parent, leaves before trunks, and returns when all
// goroutines have ended. Closing again waits for the first to be through.
func (r *Registry) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.over
		return
	}
	r.closed = true
	if r.leases == 0 {
		close(r.drained)
	}
	r.mu.Unlock()
	r.stop()
	drain := time.NewTimer(r.cfg.Drain)
	defer drain.Stop()
	select {
	case <-r.drained:
	case <-drain.C:
		r.cfg.Logger.Warn("jobs still running at shutdown are killed", "leases", r.inUse())
	}
	r.mu.Lock()
	var out []*entry
	for _, e := range r.entries {
		r.retire(e, ReasonShutdown)
		r.drop(e)
		out = append(out, e)
	}
	r.mu.Unlock()
	r.finishAll(out)
	r.wg.Wait()
	close(r.over)
}

func (r *Registry) inUse() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leases
}
