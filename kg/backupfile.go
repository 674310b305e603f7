package kg

import (
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// A backup is a stream that can be written and read in one pass:
//
//	"BNYNBKUP" | format 4 | commit 8 | triples 8 | time 8 (Unix ms)
//	chunk …            length 4 (not 0), bytes; together a deflate stream of records
//	0000               the end of the chunks
//	"BNYNBEND" | triples 8 | length of all that stands in front 8 | SHA-256 of all that stands in front 32
//
// and nothing behind. Numbers are big-endian. A record is one quad: a byte
// that says which terms are those of the record before (1 subject, 2
// predicate, 4 object, 8 graph), then each other term as its length (uvarint)
// and its stored form (term.go); a graph of length 0 is the unnamed one. Terms
// stand in full, so a backup depends on no numbers of the store it came from.
const (
	backupMagic  = "BNYNBKUP"
	backupEnd    = "BNYNBEND"
	backupFormat = 1
	backupHead   = 8 + 4 + 3*8
	backupTail   = 8 + 2*8 + sha256.Size
	backupChunk  = 256 << 10
	sameS        = 1
	sameP        = 2
	sameO        = 4
	sameG        = 8
)

// summed counts and hashes what passes through to w.
type summed struct {
	w   io.Writer
	sum hash.Hash
	n   int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.sum.Write(b[:n])
	s.n += int64(n)
	return n, err
}

// chunked writes what it gets as chunks.
type chunked struct{ w io.Writer }

func (c chunked) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		part := b[done:min(len(b), done+backupChunk)]
		if _, err := c.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))); err != nil {
			return done, err
		}
		n, err := c.w.Write(part)
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

// writeBackup writes a view.
func writeBackup(r *ReadTx, w io.Writer, now time.Time) (BackupReport, error) {
	out := &summed{w: w, sum: sha256.New()}
	head := append([]byte(backupMagic), 0, 0, 0, backupFormat)
	for _, n := range [...]uint64{r.meta.commit, r.meta.triples, uint64(now.UnixMilli())} {
		head = binary.BigEndian.AppendUint64(head, n)
	}
	if _, err := out.Write(head); err != nil {
		return BackupReport{}, backupErr(err)
	}
	n, err := writeRecords(r, out)
	if err != nil {
		return BackupReport{}, err
	}
	if n != r.meta.triples {
		return BackupReport{}, errLost("the store's record speaks of %d triples, its rows of %d", r.meta.triples, n)
	}
	tail := append(make([]byte, 4), backupEnd...)
	tail = binary.BigEndian.AppendUint64(tail, n)
	tail = binary.BigEndian.AppendUint64(tail, uint64(out.n)+4)
	if _, err := out.Write(tail); err != nil {
		return BackupReport{}, backupErr(err)
	}
	sum := out.sum.Sum(nil)
	if _, err := out.Write(sum); err != nil {
		return BackupReport{}, backupErr(err)
	}
	return BackupReport{
		Commit: r.meta.commit, Triples: n, Bytes: out.n, SHA256: hex.EncodeToString(sum), At: time.UnixMilli(now.UnixMilli()).UTC(),
	}, nil
}

// writeRecords writes the view's quads, in the order of the store.
func writeRecords(r *ReadTx, out io.Writer) (n uint64, err error) {
	buffered := bufio.NewWriterSize(chunked{out}, backupChunk)
	packed, err := flate.NewWriter(buffered, flate.BestSpeed)
	if err != nil {
		return 0, backupErr(err)
	}
	var last ttl.Quad
	var b []byte
	for q, err := range r.Match(ttl.Quad{}) {
		if err != nil {
			return 0, err
		}
		b = appendRecord(b[:0], q, last, n == 0)
		if _, err := packed.Write(b); err != nil {
			return 0, backupErr(err)
		}
		last = q
		n++
	}
	return n, backupErr(errors.Join(packed.Close(), buffered.Flush()))
}

// backupErr is a writer that failed: the caller's, not the store's.
func backupErr(err error) error {
	if err == nil {
		return nil
	}
	var classified *errs.Error
	if errors.As(err, &classified) {
		return err
	}
	if diskFull(err) {
		return errs.Wrap(errs.Exhausted, err, "the disk is full: the backup could not be written")
	}
	return errs.Wrap(errs.Unavailable, err, "the backup could not be written")
}

// appendRecord appends a quad.
func appendRecord(b []byte, q, last ttl.Quad, first bool) []byte {
	at := len(b)
	b = append(b, 0)
	for _, t := range [...]struct {
		now, before ttl.Term
		bit         byte
	}{{q.S, last.S, sameS}, {q.P, last.P, sameP}, {q.O, last.O, sameO}, {q.G, last.G, sameG}} {
		if !first && t.now == t.before {
			b[at] |= t.bit
			continue
		}
		if t.now.IsZero() {
			b = append(b, 0)
			continue
		}
		text := encodeTerm(t.now)
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// backupReader reads a backup. Nothing that it yields may be trusted before
// finish has returned nil.
type backupReader struct {
	in      *bufio.Reader
	sum     hash.Hash
	n       uint64 // bytes read
	left    uint32 // bytes left in this chunk
	ended   bool   // the chunks' end was read
	commit  uint64
	triples uint64
	seen    uint64 // records
}

var errBackup = errors.New("the backup is malformed")

// damagedBackup is the refusal of a backup.
func damagedBackup(cause error) error {
	return errs.Wrap(errs.Corrupt, cause, "the backup is damaged or cut off; nothing was changed").
		WithHint("take another backup file")
}

// openBackup reads the head.
func openBackup(r io.Reader) (*backupReader, error) {
	b := &backupReader{in: bufio.NewReaderSize(r, backupChunk), sum: sha256.New()}
	head := make([]byte, backupHead)
	if err := b.fill(head); err != nil {
		return nil, damagedBackup(err)
	}
	if string(head[:8]) != backupMagic {
		return nil, errs.New(errs.Corrupt, "this is not a backup of a store, or its beginning is damaged; nothing was changed")
	}
	if v := binary.BigEndian.Uint32(head[8:]); v != backupFormat {
		return nil, errs.New(errs.Unsupported, "the backup has format %d; this program reads format %d", v, backupFormat)
	}
	b.commit, b.triples = binary.BigEndian.Uint64(head[12:]), binary.BigEndian.Uint64(head[20:])
	return b, nil
}

// fill reads len(p) bytes into the sum.
func (b *backupReader) fill(p []byte) error {
	n, err := io.ReadFull(b.in, p)
	b.sum.Write(p[:n])
	b.n += uint64(n)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read reads from the chunks, io.EOF at their end.
func (b *backupReader) Read(p []byte) (int, error) {
	for b.left == 0 {
		if b.ended {
			return 0, io.EOF
		}
		var length [4]byte
		if err := b.fill(length[:]); err != nil {
			return 0, err
		}
		b.left = binary.BigEndian.Uint32(length[:])
		if b.left > backupChunk {
			return 0, errBackup
		}
		b.ended = b.left == 0
	}
	p = p[:min(len(p), int(b.left))]
	if err := b.fill(p); err != nil {
		return 0, err
	}
	b.left -= uint32(len(p))
	return len(p), nil
}

// quads calls fn with every quad.
func (b *backupReader) quads(fn func(ttl.Quad) error) error {
	plain := flate.NewReader(b)
	in := bufio.NewReaderSize(plain, 64<<10)
	var q ttl.Quad
	for {
		flags, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damagedBackup(err)
		}
		if err := readRecord(in, flags, &q); err != nil {
			return damagedBackup(err)
		}
		if b.seen++; b.seen > b.triples {
			return damagedBackup(errBackup)
		}
		if err := fn(q); err != nil {
			return err
		}
	}
	return b.finish()
}

// readRecord turns the last quad into the next.
func readRecord(in *bufio.Reader, flags byte, q *ttl.Quad) error {
	if flags > sameS|sameP|sameO|sameG {
		return errBackup
	}
	for _, t := range [...]struct {
		term *ttl.Term
		bit  byte
	}{{&q.S, sameS}, {&q.P, sameP}, {&q.O, sameO}, {&q.G, sameG}} {
		if flags&t.bit != 0 {
			continue
		}
		n, err := binary.ReadUvarint(in)
		if err != nil || n > maxTermBytes+64 {
			return errors.Join(errBackup, err)
		}
		if n == 0 && t.bit == sameG {
			*t.term = ttl.Term{}
			continue
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		if *t.term, err = decodeTerm(text); err != nil {
			return err
		}
	}
	return nil
}

// finish reads what stands behind the records and verifies all of it: counts,
// length, checksum, and that nothing follows.
func (b *backupReader) finish() error {
	if n, err := io.Copy(io.Discard, b); err != nil || n != 0 {
		return damagedBackup(errors.Join(errBackup, err))
	}
	length := b.n
	tail := make([]byte, backupTail-sha256.Size)
	if err := b.fill(tail); err != nil {
		return damagedBackup(err)
	}
	want := b.sum.Sum(nil)
	sum := make([]byte, sha256.Size)
	if err := b.fill(sum); err != nil {
		return damagedBackup(err)
	}
	_, err := b.in.ReadByte()
	switch {
	case !errors.Is(err, io.EOF),
		string(tail[:8]) != backupEnd,
		binary.BigEndian.Uint64(tail[8:]) != b.seen || b.seen != b.triples,
		binary.BigEndian.Uint64(tail[16:]) != length,
		string(sum) != string(want):
		return damagedBackup(errBackup)
	}
	return nil
}
