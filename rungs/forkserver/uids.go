package forkserver

import (
	"sync"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// uids hands out user ids. No two that are held at a time are equal, and one
// that was given back is used again as late as possible. Safe for concurrent
// use.
type uids struct {
	mu   sync.Mutex
	base int
	free []int // a ring: taken at head, given back behind the last
	head int
	n    int
}

func newUIDs(base, count int) *uids {
	u := &uids{base: base, free: make([]int, count), n: count}
	for i := range u.free {
		u.free[i] = base + i
	}
	return u
}

// take returns an id that nobody holds.
func (u *uids) take() (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n == 0 {
		return 0, errs.New(errs.Exhausted, "all %d user ids for jobs are in use", len(u.free))
	}
	id := u.free[u.head]
	u.head = (u.head + 1) % len(u.free)
	u.n--
	return id, nil
}

// give returns an id; the caller is certain that no process has it any more.
func (u *uids) give(id int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.free[(u.head+u.n)%len(u.free)] = id
	u.n++
}

// held returns how many ids are out.
func (u *uids) held() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.free) - u.n
}
