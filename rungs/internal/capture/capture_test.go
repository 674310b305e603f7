package capture_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/internal/capture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noFlood() {}

// run starts a shell with the given input and waits until it has ended.
func run(t *testing.T, script string, stdin []byte, keep, flood int64, onFlood func()) (*capture.Stdio, error) {
	t.Helper()
	io, err := capture.Open(stdin, keep, flood, onFlood)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(io.Close)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.Child[0], io.Child[1], io.Child[2]
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.CloseChild()
	return io, cmd.Wait()
}

func TestSmallOutputIsKeptWhole(t *testing.T) {
	io, err := run(t, "cat; echo err >&2", []byte("a\nb"), 1<<20, 1<<24, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	io.Finish(time.Second)
	if got := string(io.Stdout.Bytes()); got != "a\nb" || io.Stdout.Truncated() {
		t.Errorf("stdout %q, truncated %v", got, io.Stdout.Truncated())
	}
	if got := string(io.Stderr.Bytes()); got != "err\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestB15_SurplusIsDroppedAndTheChildDoesNotBlock(t *testing.T) {
	const keep, size = 1000, 5_000_000
	var floods atomic.Int32
	io, err := run(t, "head -c 5000000 /dev/zero", nil, keep, size, func() { floods.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	io.Finish(time.Second)
	if n := len(io.Stdout.Bytes()); n != keep || !io.Stdout.Truncated() || io.Stdout.Total() != size {
		t.Errorf("kept %d of %d, truncated %v", n, io.Stdout.Total(), io.Stdout.Truncated())
	}
	if floods.Load() != 0 {
		t.Error("a child that wrote just the flood limit was called a flood")
	}
}

func TestOutputAtTheCapIsNotTruncated(t *testing.T) {
	io, _ := run(t, "head -c 1000 /dev/zero; head -c 1001 /dev/zero >&2", nil, 1000, 1<<20, noFlood)
	io.Finish(time.Second)
	if io.Stdout.Truncated() || len(io.Stdout.Bytes()) != 1000 {
		t.Error("just the cap counts as truncated")
	}
	if !io.Stderr.Truncated() || len(io.Stderr.Bytes()) != 1000 {
		t.Error("one byte over the cap does not count as truncated")
	}
}

func TestB15_FloodIsSignalledOnceAndMemoryStaysBounded(t *testing.T) {
	var floods atomic.Int32
	flood := make(chan struct{})
	io, err := capture.Open(nil, 1<<20, 16<<20, func() {
		if floods.Add(1) == 1 {
			close(flood)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer io.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cmd := exec.Command("/bin/cat", "/dev/zero")
	cmd.Stdout = io.Child[1]
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.CloseChild()
	<-flood
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	io.Finish(time.Second)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := floods.Load(); n != 1 {
		t.Errorf("flood signalled %d times", n)
	}
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes for a cap of 1 MiB", grown)
	}
	if len(io.Stdout.Bytes()) != 1<<20 {
		t.Errorf("kept %d bytes", len(io.Stdout.Bytes()))
	}
}

// A process that the child left behind holds the pipe; Finish must not wait
// for it, whether it is silent or floods.
func TestB19_FinishDoesNotWaitForASurvivor(t *testing.T) {
	for name, survivor := range map[string]string{"silent": "sleep 60", "flooding": "exec cat /dev/zero"} {
		t.Run(name, func(t *testing.T) {
			io, err := run(t, "echo done; { "+survivor+"; } & echo $! >&2", nil, 1<<10, 1<<40, noFlood)
			if err != nil {
				t.Fatal(err)
			}
			defer killPID(t, io)
			start := time.Now()
			io.Finish(50 * time.Millisecond)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("Finish took %v", took)
			}
			if !strings.HasPrefix(string(io.Stdout.Bytes()), "done\n") {
				t.Errorf("stdout %.20q", io.Stdout.Bytes())
			}
		})
	}
}

// killPID ends the survivor, whose pid the script wrote to stderr.
func killPID(t *testing.T, io *capture.Stdio) {
	pid := 0
	for _, c := range bytes.TrimSpace(io.Stderr.Bytes()) {
		pid = pid*10 + int(c-'0')
	}
	p, err := os.FindProcess(pid)
	if err != nil || pid <= 1 {
		t.Errorf("no survivor in %q", io.Stderr.Bytes())
		return
	}
	_ = p.Kill()
}

func TestB16_InputThatIsNeverRead(t *testing.T) {
	io, err := run(t, "exit 0", make([]byte, 10<<20), 10, 100, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	io.Finish(time.Second) // goleak sees a writer that is left
}

func TestB16_InputOfAChildThatHangs(t *testing.T) {
	io, err := capture.Open(make([]byte, 10<<20), 10, 100, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	io.Close() // the read end was never even given away
	io.Close()
}

func TestB16_NoInputIsEndOfFile(t *testing.T) {
	io, err := run(t, "cat; echo end", nil, 100, 1000, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	io.Finish(time.Second)
	if got := string(io.Stdout.Bytes()); got != "end\n" {
		t.Errorf("stdout %q", got)
	}
}

func TestLargeInputArrivesWhole(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 300_000)
	io, err := run(t, "cat", data, 4<<20, 1<<30, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	io.Finish(time.Second)
	if !bytes.Equal(io.Stdout.Bytes(), data) {
		t.Errorf("%d bytes came back of %d", len(io.Stdout.Bytes()), len(data))
	}
}

// A program that gets EAGAIN from its standard output loses text.
func TestTheChildsEndsBlock(t *testing.T) {
	io, err := capture.Open(nil, 10, 100, noFlood)
	if err != nil {
		t.Fatal(err)
	}
	defer io.Close()
	for i, f := range io.Child {
		raw, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			if flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("descriptor %d does not block (%v)", i, err)
			}
		})
	}
}
