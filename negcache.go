package banyan

import (
	"sync"
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// negativeCache remembers for a short while which specs could not be warmed, so
// that a job whose imports were only guessed does not pay for the same failing
// boot again and again. It is bounded. Safe for concurrent use.
type negativeCache struct {
	mu     sync.Mutex
	keep   time.Duration
	most   int
	failed map[ontology.SpecKey]negative
}

// negative is one failure: when it may be tried again, and what it was.
type negative struct {
	until time.Time
	err   error
}

func newNegativeCache(keep time.Duration, most int) *negativeCache {
	return &negativeCache{keep: keep, most: most, failed: map[ontology.SpecKey]negative{}}
}

// add remembers a failure.
func (n *negativeCache) add(key ontology.SpecKey, err error, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.failed) >= n.most {
		for k, f := range n.failed {
			if now.After(f.until) {
				delete(n.failed, k)
			}
		}
	}
	if len(n.failed) < n.most {
		n.failed[key] = negative{until: now.Add(n.keep), err: err}
	}
}

// get returns the failure of key, or nil if there is none that still counts.
func (n *negativeCache) get(key ontology.SpecKey, now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	f, ok := n.failed[key]
	if !ok {
		return nil
	}
	if now.After(f.until) {
		delete(n.failed, key)
		return nil
	}
	return f.err
}

// clear forgets all failures.
func (n *negativeCache) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.failed)
}
