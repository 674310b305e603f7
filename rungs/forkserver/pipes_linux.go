package forkserver

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// pipes are the three standard streams of one child. They are made before the
// job is known: reading and writing begins with the job.
type pipes struct {
	child [3]*os.File // stdin, stdout, stderr: the child's ends
	ours  [3]*os.File
}

func openPipes() (p *pipes, err error) {
	p = &pipes{}
	for i := range p.ours {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		p.child[i], p.ours[i] = w, r
		if i == 0 {
			p.child[i], p.ours[i] = r, w
		}
		if err := blocking(p.child[i]); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) closeChild() { closeFiles(p.child[:]) }

func (p *pipes) close() {
	closeFiles(p.child[:])
	closeFiles(p.ours[:])
}

// closeFiles closes what is open; a pipe's end has nothing to lose.
func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// blocking puts a pipe's end into the mode that a child expects. Go makes its
// pipes non-blocking, and the mode belongs to the end, not to the descriptor.
func blocking(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = unix.SetNonblock(int(fd), false) })
	return errors.Join(err, inner)
}
