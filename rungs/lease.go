package rungs

import "sync"

// Lease keeps a parent from being closed. Release it when the job has ended.
type Lease struct {
	r     *Registry
	e     *entry
	fresh bool
	once  sync.Once
}

// Parent returns the parent that is leased.
func (l *Lease) Parent() Parent { return l.e.live.Parent }

// Live returns the parent's present figures.
func (l *Lease) Live() Live {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	return l.e.snapshot()
}

// Fresh reports whether the parent was made for the call that this lease
// answers.
func (l *Lease) Fresh() bool { return l.fresh }

// Release ends the lease. Releasing again does nothing.
func (l *Lease) Release() { l.once.Do(func() { l.r.release(l.e) }) }

func (r *Registry) release(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.leases--
	e.lastUsed = r.cfg.Now()
	r.leases--
	switch {
	case r.closed:
		if r.leases == 0 {
			close(r.drained)
		}
	case e.leases == 0 && e.retired != "" && r.entries[e.live.ID] == e:
		// Not on the job's path: closing may take its time.
		r.drop(e)
		r.wg.Go(func() { r.finish(e, e.retired) })
	}
}

// lease counts one lease on e; Registry.mu is held.
func (r *Registry) lease(e *entry, fresh bool) *Lease {
	e.leases++
	r.leases++
	return &Lease{r: r, e: e, fresh: fresh}
}
