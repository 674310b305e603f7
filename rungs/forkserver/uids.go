package forkserver

import (
	"sync"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// uidBlock is how many ids are claimed at a time, so that some thirty daemons
// find room in the default range.
const uidBlock = 256

// uids hands out user ids. No two that are held at a time are equal, and of
// those that are claimed, one that was given back is used again as late as
// possible. Safe for concurrent use.
type uids struct {
	// claim makes a block of ids this process's own among all on this host; it
	// returns false if another has one of them. Set before the first take.
	claim func(first, n int) (bool, error)

	mu      sync.Mutex
	next    int   // the first id that was not asked for yet
	end     int   // behind the last of the range
	claimed int   // ids that are ours
	lost    int   // ids of ours that are never used again
	free    []int // a ring: taken at head, given back behind the last
	head    int
	n       int
}

func newUIDs(base, count int) *uids {
	return &uids{next: base, end: base + count, free: make([]int, count)}
}

// take returns an id that nobody holds.
func (u *uids) take() (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.n == 0 {
		if err := u.more(); err != nil {
			return 0, err
		}
	}
	id := u.free[u.head]
	u.head = (u.head + 1) % len(u.free)
	u.n--
	return id, nil
}

// more claims the next block, if nobody else has it; mu is held.
func (u *uids) more() error {
	first, n := u.next, min(uidBlock, u.end-u.next)
	if n == 0 {
		return errs.New(errs.Exhausted, "all %d user ids for jobs are in use, here or by another daemon", len(u.free))
	}
	ours, err := u.claim(first, n)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "user ids for jobs cannot be claimed")
	}
	u.next += n
	if ours {
		u.claimed += n
		for id := first; id < first+n; id++ {
			u.put(id)
		}
	}
	return nil
}

func (u *uids) put(id int) {
	u.free[(u.head+u.n)%len(u.free)] = id
	u.n++
}

// give returns an id; the caller is certain that no process has it any more.
func (u *uids) give(id int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.put(id)
}

// lose takes back an id that a process may still have: it is not used again.
func (u *uids) lose() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lost++
}

// held returns how many ids are out.
func (u *uids) held() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.claimed - u.n - u.lost
}
