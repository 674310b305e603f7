package capture

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Stdio is the three standard streams of one child, our side and the child's.
type Stdio struct {
	// Child are the ends for the child, in the order stdin, stdout, stderr.
	// They are ours to close: see CloseChild.
	Child [3]*os.File

	Stdout, Stderr *Stream
	stdin          *Feeder
}

// Open makes three pipes, starts to read stdout and stderr with the bound keep
// each, and to write stdin. onFlood is called when one of them has passed
// flood bytes, at most once a stream; it must not block.
func Open(stdin []byte, keep, flood int64, onFlood func()) (*Stdio, error) {
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	err := errors.Join(err1, err2, err3)
	if err == nil {
		err = errors.Join(blocking(inR), blocking(outW), blocking(errW))
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, err
	}
	return &Stdio{
		Child:  [3]*os.File{inR, outW, errW},
		Stdout: Start(outR, keep, flood, onFlood),
		Stderr: Start(errR, keep, flood, onFlood),
		stdin:  Feed(inW, stdin),
	}, nil
}

// blocking puts a child's end into the mode that programs expect. Go makes its
// pipes non-blocking, and the mode goes with the open file to whoever gets it.
func blocking(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = syscall.SetNonblock(int(fd), false) })
	return errors.Join(err, inner)
}

// CloseChild closes the child's ends. Call it as soon as the child has them
// (or is not going to), else the streams would never see their end.
func (s *Stdio) CloseChild() {
	for _, f := range s.Child {
		_ = f.Close()
	}
}

// Finish is for after the end of the process tree: it stops writing stdin,
// reads what is left of the output for grace at the most, and closes all.
func (s *Stdio) Finish(grace time.Duration) {
	s.CloseChild()
	s.stdin.Close()
	until := time.Now().Add(grace)
	s.Stdout.Finish(grace)
	s.Stderr.Finish(time.Until(until))
}

// Close ends all at once, without reading what is left.
func (s *Stdio) Close() {
	s.CloseChild()
	s.stdin.Close()
	s.Stdout.Close()
	s.Stderr.Close()
}
