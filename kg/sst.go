package kg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/klauspost/compress/snappy"
	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// maxBlock bounds a block of a table, unpacked. Badger begins a new block at
// 4 KiB; one value, and a term is at most half a megabyte, may go beyond.
const maxBlock = 8 << 20

// verifyTable reads a whole table file of Badger and verifies the checksum of
// its index and of every block. It is Corrupt, naming the file, if anything
// does not hold. The layout, from Badger's table/builder.go:
//
//	block … | index | length of index 4 | checksum of index | its length 4
//	block:  entries | offsets | number of offsets 4 | checksum | its length 4
//
// A block is compressed as a whole; its checksum is of the unpacked bytes in
// front of it. Numbers are big-endian, a checksum is a message of protobuf.
func verifyTable(ctx context.Context, path string, packed bool) (err error) {
	name := quote(filepath.Base(path))
	defer func() {
		if p := recover(); p != nil { // the index is a flatbuffer, whose reader trusts it
			err = damagedTable(name, fmt.Errorf("panic: %v", p))
		}
	}()
	return withTable(path, func(data []byte) error { return tableErr(name, checkTable(ctx, data, packed)) })
}

// withTable maps a table file into memory for the time of a call.
func withTable(path string, fn func(data []byte) error) error {
	name := quote(filepath.Base(path))
	unreadable := func(err error) error {
		return errs.Wrap(errs.Unavailable, err, "the table file %s of the store cannot be read", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return unreadable(err)
	}
	if info.Size() < 12 || info.Size() > 1<<32-1 {
		return damagedTable(name, fmt.Errorf("%d bytes", info.Size()))
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return unreadable(err)
	}
	defer unix.Munmap(data)                      //nolint:errcheck // only read
	_ = unix.Madvise(data, unix.MADV_SEQUENTIAL) // a hint
	return fn(data)
}

// tableErr passes what is not damage, and names the file of what is.
func tableErr(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return storeErr("check the tables", err)
	}
	return damagedTable(name, err)
}

func damagedTable(name string, cause error) error {
	return errs.Wrap(errs.Corrupt, cause, "the table file %s of the store is damaged", name).WithHint(restoreHint)
}

// checkTable verifies a table's bytes.
func checkTable(ctx context.Context, data []byte, packed bool) error {
	table, rest, err := tableIndex(data)
	if err != nil {
		return err
	}
	n := table.OffsetsLength()
	if n == 0 {
		return errors.New("no blocks")
	}
	var at fb.BlockOffset
	var buf []byte
	for i := range n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !table.Offsets(&at, i) {
			return fmt.Errorf("block %d is not in the index", i)
		}
		from, to := uint64(at.Offset()), uint64(at.Offset())+uint64(at.Len())
		if to > uint64(len(rest)) {
			return fmt.Errorf("block %d ends at %d of %d", i, to, len(rest))
		}
		if buf, err = checkBlock(rest[from:to], packed, buf); err != nil {
			return fmt.Errorf("block %d at %d: %w", i, from, err)
		}
	}
	return nil
}

// tableIndex verifies a table's index; rest is what stands in front of it.
func tableIndex(data []byte) (table *fb.TableIndex, rest []byte, err error) {
	rest, sum, err := cutChecksum(data)
	if err != nil {
		return nil, nil, err
	}
	rest, index, err := cutTail(rest)
	if err != nil {
		return nil, nil, err
	}
	if err := y.VerifyChecksum(index, sum); err != nil {
		return nil, nil, fmt.Errorf("index: %w", err)
	}
	return fb.GetRootAsTableIndex(index, 0), rest, nil
}

// tableVersion returns the newest version in a table; ok is false if its index
// cannot be read.
func tableVersion(path string) (version uint64, ok bool) {
	defer func() {
		if recover() != nil { // the index is a flatbuffer, whose reader trusts it
			version, ok = 0, false
		}
	}()
	err := withTable(path, func(data []byte) error {
		table, _, err := tableIndex(data)
		if err == nil {
			version = table.MaxVersion()
		}
		return err
	})
	return version, err == nil
}

// logHead is what stands in front of a log's first entry.
const logHead = 20

// logVersion returns the version of a log's first entry; ok is false if there
// is none. An entry is two bytes of flags, the lengths of key and value and the
// time it expires (uvarints), the key, and more; a key ends with the version,
// taken from the largest number so that the newest sorts first.
func logVersion(path string) (version uint64, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	b := make([]byte, 512)
	n, err := f.ReadAt(b, logHead)
	if err != nil && !errors.Is(err, io.EOF) || n < 2 {
		return 0, false
	}
	b = b[2:n]
	length := uint64(0)
	for i := range 3 {
		v, used := binary.Uvarint(b)
		if used <= 0 {
			return 0, false
		}
		if i == 0 {
			length = v
		}
		b = b[used:]
	}
	if length < 8 || length > uint64(len(b)) {
		return 0, false
	}
	return math.MaxUint64 - binary.BigEndian.Uint64(b[length-8:]), true
}

// checkBlock verifies one block. It returns the buffer it unpacked into, to be
// used again.
func checkBlock(block []byte, packed bool, buf []byte) ([]byte, error) {
	if packed {
		n, err := snappy.DecodedLen(block)
		if err != nil || n > maxBlock {
			return buf, fmt.Errorf("unpacked length %d: %w", n, errors.Join(err, errBlock))
		}
		if n > cap(buf) {
			buf = make([]byte, max(n, 16<<10))
		}
		if block, err = snappy.Decode(buf[:n], block); err != nil {
			return buf, err
		}
	}
	body, sum, err := cutChecksum(block)
	if err != nil {
		return buf, err
	}
	if err := y.VerifyChecksum(body, sum); err != nil {
		return buf, err
	}
	if len(body) < 4 || uint64(binary.BigEndian.Uint32(body[len(body)-4:]))*4+4 > uint64(len(body)) {
		return buf, errBlock
	}
	return buf, nil
}

var errBlock = errors.New("the block is malformed")

// cutTail takes a part and its length, 4 bytes behind it, off the end.
func cutTail(b []byte) (rest, part []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errBlock
	}
	n := uint64(binary.BigEndian.Uint32(b[len(b)-4:]))
	b = b[:len(b)-4]
	if n > uint64(len(b)) {
		return nil, nil, errBlock
	}
	cut := len(b) - int(n)
	return b[:cut], b[cut:], nil
}

// cutChecksum takes a checksum off the end: field 1 is the algorithm, field 2
// the sum, both varints; a field that is 0 is left out.
func cutChecksum(b []byte) (rest []byte, sum *pb.Checksum, err error) {
	rest, msg, err := cutTail(b)
	if err != nil {
		return nil, nil, err
	}
	sum = &pb.Checksum{}
	for len(msg) > 0 {
		v, n := binary.Uvarint(msg[1:])
		switch {
		case n <= 0:
			return nil, nil, errBlock
		case msg[0] == 1<<3 && v <= uint64(pb.Checksum_XXHash64):
			sum.Algo = pb.Checksum_Algorithm(v)
		case msg[0] == 2<<3:
			sum.Sum = v
		default:
			return nil, nil, errBlock
		}
		msg = msg[1+n:]
	}
	return rest, sum, nil
}
