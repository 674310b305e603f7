package kg

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The meter comes to the report that the maker gave, however the bytes come,
// and to none for what is not all of it.
func TestBackupMeter(t *testing.T) {
	s := onDisk(t, t.TempDir()+"/data")
	defer mustClose(t, s)
	for n := range 20 {
		mustPut(t, s, testSnapshot(n))
	}
	var made bytes.Buffer
	want, err := s.Backup(t.Context(), &made)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(b []byte, size int) (BackupReport, error) {
		var out bytes.Buffer
		m := NewBackupMeter(&out)
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := m.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if !bytes.Equal(out.Bytes(), b) {
			t.Error("other bytes were passed on")
		}
		return m.Report()
	}
	whole := made.Bytes()
	for _, size := range []int{1, 7, 33, 100, 1 << 20} {
		got, err := measure(whole, size)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("in pieces of %d: %v\n%s", size, err, diff)
		}
	}
	for _, cut := range []int{0, 1, 36, 92, len(whole) - 1} {
		if _, err := measure(whole[:cut], 64); errs.KindOf(err) != errs.Corrupt {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for _, at := range []int{0, 20, len(whole) / 2, len(whole) - 40, len(whole) - 1} {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		if _, err := measure(bad, 64); errs.KindOf(err) != errs.Corrupt {
			t.Errorf("flipped at %d: %v", at, err)
		}
	}
	m := NewBackupMeter(failing{})
	if n, err := m.Write(whole); n != 0 || !errors.Is(err, errFailing) {
		t.Errorf("wrote %d, %v", n, err)
	}
}

var errFailing = errors.New("no more")

// failing is a writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }
