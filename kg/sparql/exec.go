package sparql

import (
	"context"
	"errors"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// exec is one run of a query. It is for one goroutine and lives for one call.
type exec struct {
	ctx   context.Context //nolint:containedctx // lives for one call
	sc    *kg.Scanner
	o     Options
	ds    *dataset
	terms *terms
	width int    // slots of a row
	scope *scope // of the query itself
	now   time.Time
	base  string // of IRI()

	ticks     int
	held      int64
	pathSteps int64
	tables    map[plan]*keptTable
	regexes   map[string]*pattern
	bnodes    map[string]ttl.Term // BNODE(text) by text and solution
	lent      []*hashing          // steps that hold tables
	lentBytes int
	counts    map[countKey]int // rows that fit constants
}

func newExec(ctx context.Context, sc *kg.Scanner, o Options) *exec {
	x := &exec{ctx: ctx, sc: sc, o: o, now: o.Now(), base: o.Base, tables: map[plan]*keptTable{}, regexes: map[string]*pattern{}}
	x.terms = newTerms(x)
	return x
}

// tickEvery is after how many steps of work a run looks at its context.
const tickEvery = 256

// tick is called in every loop: it reports why the run should end.
func (x *exec) tick() error { return x.spend(1) }

// spend is tick for a step that takes as long as n of them.
func (x *exec) spend(n int) error {
	before := x.ticks / tickEvery
	if x.ticks += n; x.ticks/tickEvery == before {
		return nil
	}
	return ended(x.ctx)
}

// ended is the classified error of a context that ended.
func ended(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Timeout, err, "the time for the query is over")
	}
	return errs.Wrap(errs.Canceled, err, "the caller went away")
}

// charge counts bytes that the run holds.
func (x *exec) charge(bytes int) error {
	if x.held += int64(bytes); x.held > x.o.MaxMemory && x.lentBytes > 0 {
		x.takeBack()
	}
	if x.held > x.o.MaxMemory {
		return errs.New(errs.TooLarge, "the query holds more than the limit of %d bytes at once", x.o.MaxMemory).
			WithHint("narrow the pattern, or ask for fewer solutions with LIMIT")
	}
	return nil
}

// release counts bytes that the run holds no more.
func (x *exec) release(bytes int) { x.held -= int64(bytes) }

// stopped ends a run whose caller has enough. Each use makes its own, so that
// it ends just the run that it was made for.
type stopped struct{ _ byte }

func (*stopped) Error() string { return "stopped" }

// exists reports whether a plan has a solution that agrees with the row.
func (x *exec) exists(p plan, row []kg.ID) (bool, error) {
	stop := &stopped{}
	err := p.run(x, row, func() error { return stop })
	if errors.Is(err, stop) {
		return true, nil
	}
	return false, err
}

// holds reports whether all filters hold for a row: an error counts as false.
func (x *exec) holds(fs []*filter, row []kg.ID) (bool, error) {
	for _, f := range fs {
		ok, err := x.truth(f.expr, row)
		if err != nil && !errors.Is(err, errEval) {
			return false, err
		}
		if err != nil || !ok {
			return false, nil
		}
	}
	return true, nil
}
