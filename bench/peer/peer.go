package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// maxReply bounds one line of a child.
const maxReply = 1 << 30

// ErrStopped says that a child was stopped because its time was over. It is
// gone then; start another.
var ErrStopped = errors.New("stopped: its time was over")

// Peer is a running child. Its methods are for one goroutine.
type Peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs a command as a child.
func start(cmd *exec.Cmd) (*Peer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Peer{cmd: cmd, in: in, out: bufio.NewReaderSize(io.LimitReader(out, maxReply), 1<<20)}, nil
}

// Ask sends a request and waits for the reply. If the context ends first, the
// child is killed and the error is ErrStopped.
func (p *Peer) Ask(ctx context.Context, q Request) (r Reply, err error) {
	line, err := json.Marshal(q)
	if err != nil {
		return r, err
	}
	answered, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
			_ = p.cmd.Process.Kill() // gone already is as good
		case <-answered:
		}
	}()
	r, err = p.ask(append(line, '\n'))
	close(answered)
	<-watched
	if err != nil && ctx.Err() != nil {
		err = ErrStopped
	}
	return r, err
}

func (p *Peer) ask(line []byte) (r Reply, err error) {
	if _, err := p.in.Write(line); err != nil {
		return r, err
	}
	reply, err := p.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("the child ended: %w", err)
	}
	return r, json.Unmarshal(reply, &r)
}

// Close ends the child and waits until it is gone.
func (p *Peer) Close() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed, which is what was wanted
}
