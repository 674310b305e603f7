package kg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// BackupMeter passes a backup on and learns what it holds on the way, for a
// caller that did not make it. It holds the head and the last bytes only. It
// is not for concurrent use.
type BackupMeter struct {
	w    io.Writer
	sum  hash.Hash // of all bytes but those in tail
	head []byte
	tail []byte // the last bytes, at most sha256.Size
	end  []byte // the last bytes, at most backupTail
	n    int64
}

// NewBackupMeter returns a meter that writes to w.
func NewBackupMeter(w io.Writer) *BackupMeter {
	return &BackupMeter{w: w, sum: sha256.New()}
}

// Write passes b on. Its errors are w's.
func (m *BackupMeter) Write(b []byte) (int, error) {
	n, err := m.w.Write(b)
	b = b[:n]
	m.n += int64(n)
	m.head = append(m.head, b[:min(n, backupHead-len(m.head))]...)
	m.end = append(m.end, b...)
	m.end = append([]byte(nil), m.end[max(0, len(m.end)-backupTail):]...)
	m.tail = append(m.tail, b...)
	if over := len(m.tail) - sha256.Size; over > 0 {
		m.sum.Write(m.tail[:over])
		m.tail = append([]byte(nil), m.tail[over:]...)
	}
	return n, err
}

// Report says what was passed on. Bytes that are not one whole backup, by
// their head, their end mark, their length and their sum, are Corrupt.
func (m *BackupMeter) Report() (BackupReport, error) {
	whole := m.n >= backupHead+backupTail && bytes.HasPrefix(m.head, []byte(backupMagic)) &&
		bytes.HasPrefix(m.end, []byte(backupEnd)) && bytes.Equal(m.sum.Sum(nil), m.tail)
	if !whole || binary.BigEndian.Uint64(m.end[len(backupEnd)+8:]) != uint64(m.n)-backupTail {
		return BackupReport{}, errs.New(errs.Corrupt, "this is not a whole backup")
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64(m.head[at:]) }
	return BackupReport{
		Commit: number(12), Triples: number(20), At: time.UnixMilli(int64(number(28))).UTC(),
		Bytes: m.n, SHA256: hex.EncodeToString(m.tail),
	}, nil
}
