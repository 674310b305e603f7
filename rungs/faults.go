package rungs

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// faults collects what is wrong with one input, so that a caller can mend it
// all at once. The list is bounded: a hostile input must not make a long error.
type faults struct {
	parts []errs.Part
	more  int
}

// add notes one fault. The pointer is prefix, index (if not negative), suffix.
func (f *faults) add(prefix string, index int, suffix, detail string) {
	if len(f.parts) == maxFaults {
		f.more++
		return
	}
	pointer := prefix
	if index >= 0 {
		pointer += strconv.Itoa(index)
	}
	f.parts = append(f.parts, errs.Part{Pointer: pointer + suffix, Detail: detail})
}

// addErr notes what another check found, with its parts.
func (f *faults) addErr(pointer string, err error) {
	if err == nil {
		return
	}
	if e := (*errs.Error)(nil); errors.As(err, &e) && len(e.Parts) > 0 {
		for _, p := range e.Parts {
			f.add(p.Pointer, -1, "", p.Detail)
		}
		return
	}
	f.add(pointer, -1, "", errs.Public(err))
}

// err returns the faults as one Invalid error, nil if there are none.
func (f *faults) err(op string) error {
	if len(f.parts) == 0 {
		return nil
	}
	e := errs.New(errs.Invalid, "%s", f.parts[0].Detail).WithParts(f.parts...)
	e.Op = op
	if n := len(f.parts) - 1 + f.more; n > 0 {
		e.Msg += " (and " + strconv.Itoa(n) + " more)"
	}
	return e
}

// quote shows untrusted text in an error: quoted, and cut if it is long.
func quote(s string) string {
	if len(s) <= maxQuotedBytes {
		return strconv.Quote(s)
	}
	cut := maxQuotedBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// hasNUL reports whether s holds a NUL, which no argument, variable or path
// can carry to a process.
func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }
