package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is the host's end of a control socket. Send may be called from several
// goroutines, Receive and Read from one.
type Conn struct {
	sock *net.UnixConn
	mu   sync.Mutex // one frame at a time
	buf  []byte
}

// Pair makes a control socket pair: the host's end, and the other as a file to
// be given to a process and closed. The other end blocks, as the agent wants.
func Pair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	generic, err := net.FileConn(ours) // a copy of the descriptor, not blocking
	_ = ours.Close()
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	return &Conn{sock: generic.(*net.UnixConn)}, theirs, nil
}

// Send writes one frame; files go with it and stay the caller's. It fails when
// the write takes longer than timeout.
func (c *Conn) Send(timeout time.Duration, frame any, files ...*os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.buf, err = AppendFrame(c.buf[:0], frame, MaxHostFrame); err != nil {
		return err
	}
	defer func() {
		if cap(c.buf) > 1<<20 {
			c.buf = nil // one large frame must not be held for ever
		}
	}()
	rights, err := rightsOf(files)
	if err != nil {
		return err
	}
	if err := c.sock.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	n, _, err := c.sock.WriteMsgUnix(c.buf, rights, nil)
	if err == nil && n < len(c.buf) {
		_, err = c.sock.Write(c.buf[n:])
	}
	return err
}

// rightsOf packs descriptors without taking their files out of the poller.
func rightsOf(files []*os.File) ([]byte, error) {
	if len(files) == 0 {
		return nil, nil
	}
	if len(files) > MaxFDs {
		return nil, ErrTooManyFD
	}
	fds := make([]int, 0, len(files))
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return nil, err
		}
		if err := raw.Control(func(fd uintptr) { fds = append(fds, int(fd)) }); err != nil {
			return nil, err
		}
	}
	return unix.UnixRights(fds...), nil
}

// Receive reads one frame of at most limit bytes and the descriptors that came
// with it, which are the caller's to close. Descriptors that come in any other
// place are closed here.
func (c *Conn) Receive(limit int) (body []byte, fds []int, err error) {
	defer func() {
		if err != nil {
			CloseAll(fds)
			fds = nil
		}
	}()
	var head [headerSize]byte
	space := make([]byte, unix.CmsgSpace(MaxFDs*4))
	n, oob, flags, _, err := c.sock.ReadMsgUnix(head[:], space)
	if err != nil {
		return nil, nil, err
	}
	if fds, err = parseRights(space[:oob]); err != nil {
		return nil, fds, err
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return nil, fds, ErrTooManyFD
	}
	if n == 0 {
		return nil, fds, io.EOF
	}
	// From here on plain reads: the kernel drops descriptors that come with
	// them.
	if _, err := io.ReadFull(c.sock, head[n:]); err != nil {
		return nil, fds, unexpected(err)
	}
	body, err = readBody(c.sock, head, limit)
	return body, fds, err
}

func parseRights(oob []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var all []int
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
			all = append(all, fds...)
		}
	}
	return all, nil
}

// unexpected turns an end inside a frame into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// CloseAll closes descriptors.
func CloseAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // nothing was written through them
	}
}

// Read reads plain bytes; descriptors sent along are dropped by the kernel.
func (c *Conn) Read(b []byte) (int, error) { return c.sock.Read(b) }

// Write writes plain bytes, without a bound on time: Close ends it.
func (c *Conn) Write(b []byte) (int, error) { return c.sock.Write(b) }

// Close closes the socket and ends calls in progress.
func (c *Conn) Close() error { return c.sock.Close() }
