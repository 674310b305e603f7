package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// bareProgram forks, exits and waits each time that it is asked, and says how
// many nanoseconds that took by its own clock.
const bareProgram = `
import gc, os, sys, time
import %s
gc.collect()
gc.freeze()
for line in sys.stdin:
    begin = time.perf_counter_ns()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print(time.perf_counter_ns() - begin, flush=True)
`

type bareProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startBare(o options) (*bareProcess, error) {
	cmd := exec.Command(o.python, "-I", "-c", fmt.Sprintf(bareProgram, strings.Join(o.modules, ", ")))
	cmd.Env = []string{"LANG=C.UTF-8", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b := &bareProcess{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = b.cycle() // waits for the imports
	return b, err
}

func (b *bareProcess) cycle() (time.Duration, error) {
	if _, err := io.WriteString(b.in, "\n"); err != nil {
		return 0, err
	}
	if !b.out.Scan() {
		return 0, errors.Join(errors.New("the bare process ended"), b.out.Err())
	}
	ns, err := strconv.ParseInt(b.out.Text(), 10, 64)
	return time.Duration(ns), err
}

func (b *bareProcess) close() {
	_ = b.in.Close()
	_ = b.cmd.Wait() // it ends with its input
}
