package sparql

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ttl"
)

// terms gives ids to terms and terms to ids. A term that the store knows has
// the store's id; one that the query made has an id of the query's own.
type terms struct {
	x     *exec
	ids   map[ttl.Term]kg.ID
	local []ttl.Term
	mark  string // of the blank nodes that the run makes
	made  int
}

func newTerms(x *exec) *terms { return &terms{x: x, ids: map[ttl.Term]kg.ID{}} }

// cachedIDs bounds the store's ids that are remembered; those of the query's
// own are always.
const cachedIDs = 1 << 14

// id returns the id of a term.
func (t *terms) id(term ttl.Term) (kg.ID, error) {
	if id, ok := t.ids[term]; ok {
		return id, nil
	}
	id, ok, err := t.x.sc.Find(term)
	if err != nil {
		return 0, err
	}
	if !ok {
		id = kg.LocalID + kg.ID(len(t.local))
		t.local = append(t.local, term)
		if err := t.x.charge(160 + len(term.Value) + len(term.Datatype)); err != nil {
			return 0, err
		}
	} else if len(t.ids) >= cachedIDs {
		return id, nil
	}
	t.ids[term] = id
	return id, nil
}

// term returns the term of an id; the zero term for 0.
func (t *terms) term(id kg.ID) (ttl.Term, error) {
	switch {
	case id == 0:
		return ttl.Term{}, nil
	case id >= kg.LocalID:
		return t.local[id-kg.LocalID], nil
	}
	return t.x.sc.Term(id)
}

// blank makes a new blank node. Its label holds 96 random bits, so that it is
// none of the store's.
func (t *terms) blank() ttl.Term {
	if t.mark == "" {
		var b [12]byte
		_, _ = rand.Read(b[:]) // never fails
		t.mark = "q" + hex.EncodeToString(b[:])
	}
	t.made++
	return ttl.NewBlank(t.mark + "-" + strconv.Itoa(t.made))
}

// isMade reports whether an id is that of a blank node that the run made.
func (t *terms) isMade(id kg.ID) bool {
	if id < kg.LocalID || t.mark == "" {
		return false
	}
	term := t.local[id-kg.LocalID]
	return term.Kind == ttl.Blank && strings.HasPrefix(term.Value, t.mark)
}
