package banyan

import (
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

// learned is what the engine has found out about its rungs: rewards, breakers
// and costs. The planner's types do the arithmetic; this guards them. Safe for
// concurrent use.
type learned struct {
	mu    sync.Mutex
	rungs map[ontology.RungName]*rungRecord
}

// rungRecord is one rung's.
type rungRecord struct {
	reward  planner.Reward
	breaker planner.Breaker
	fork    planner.Estimate
	boot    planner.Estimate
	// last is the snapshot whose loss was counted last.
	last ontology.SnapshotID
}

func newLearned() *learned {
	return &learned{rungs: map[ontology.RungName]*rungRecord{}}
}

// of returns a rung's record; the caller holds the lock.
func (l *learned) of(name ontology.RungName) *rungRecord {
	r := l.rungs[name]
	if r == nil {
		r = &rungRecord{}
		l.rungs[name] = r
	}
	return r
}

// admit asks the breaker's leave for one use of a rung.
func (l *learned) admit(name ontology.RungName, now time.Time) (planner.Pass, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(name)
	var pass planner.Pass
	var ok bool
	r.breaker, pass, ok = r.breaker.Admit(now)
	return pass, ok
}

// observe takes in the outcome of one use.
func (l *learned) observe(name ontology.RungName, pass planner.Pass, err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, o := l.of(name), planner.OutcomeOf(err)
	r.reward = r.reward.Observe(o, now)
	r.breaker = r.breaker.Observe(pass, o, now)
}

// lost takes in that a job was lost while it ran. A parent takes all its jobs
// along; that is one failure of the rung and not one for each of them.
func (l *learned) lost(name ontology.RungName, pass planner.Pass, parent ontology.SnapshotID, err error, now time.Time) {
	l.mu.Lock()
	again := l.of(name).last == parent
	l.of(name).last = parent
	l.mu.Unlock()
	if !again {
		l.observe(name, pass, err, now)
	}
}

// forked takes in what one fork cost.
func (l *learned) forked(name ontology.RungName, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(name)
	r.fork = r.fork.Observe(ms(took))
}

// booted takes in what one boot cost.
func (l *learned) booted(name ontology.RungName, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(name)
	r.boot = r.boot.Observe(ms(took))
}

// facts returns what is known of a rung now: reward, why the breaker keeps it
// out ("" if it does not), and learned costs in milliseconds (0 if unknown).
func (l *learned) facts(name ontology.RungName, now time.Time) (reward float64, open string, forkMS, bootMS float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(name)
	return r.reward.Value(now), r.breaker.Reason(now), r.fork.MS, r.boot.MS
}
