package agent_test

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/agent"
)

// pair is a Conn and a descriptor for the other side, both closed at the end.
func pair(t *testing.T) (*agent.Conn, *os.File) {
	t.Helper()
	conn, theirs, err := agent.Pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = theirs.Close() })
	return conn, theirs
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestDescriptorsTravelWithTheirFrame(t *testing.T) {
	a, theirs := pair(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	frames := []byte(raw(`{"op":"first"}`))
	// The first frame without, the second with two descriptors, glued in the
	// kernel's queue.
	if err := unix.Sendmsg(int(theirs.Fd()), frames, nil, nil, 0); err != nil {
		t.Fatal(err)
	}
	rights := unix.UnixRights(int(null.Fd()), int(null.Fd()))
	if err := unix.Sendmsg(int(theirs.Fd()), []byte(raw(`{"op":"second"}`)), rights, nil, 0); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	for _, want := range []struct {
		body string
		fds  int
	}{{`{"op":"first"}`, 0}, {`{"op":"second"}`, 2}} {
		body, fds, err := a.Receive(agent.MaxAgentFrame)
		if err != nil || string(body) != want.body || len(fds) != want.fds {
			t.Fatalf("%s, %v, %v", body, fds, err)
		}
		agent.CloseAll(fds)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

func TestB07_DescriptorsInABadFrameAreClosed(t *testing.T) {
	for name, data := range map[string]string{
		"huge":     "\xff\xff\xff\xff",
		"half":     "\x00\x00",
		"cut body": "\x00\x00\x00\x10abc",
	} {
		t.Run(name, func(t *testing.T) {
			a, theirs := pair(t)
			before := openFiles(t)
			if err := unix.Sendmsg(int(theirs.Fd()), []byte(data), unix.UnixRights(0, 0, 0), nil, 0); err != nil {
				t.Fatal(err)
			}
			if err := unix.Shutdown(int(theirs.Fd()), unix.SHUT_WR); err != nil {
				t.Fatal(err)
			}
			if _, fds, err := a.Receive(agent.MaxAgentFrame); err == nil || fds != nil {
				t.Errorf("fds %v, %v", fds, err)
			}
			if after := openFiles(t); after != before {
				t.Errorf("%d descriptors, then %d", before, after)
			}
		})
	}
}

func TestMoreDescriptorsThanAllowedAreRefused(t *testing.T) {
	a, theirs := pair(t)
	before := openFiles(t)
	many := make([]int, agent.MaxFDs+8)
	if err := unix.Sendmsg(int(theirs.Fd()), []byte(raw(`{"op":"x"}`)), unix.UnixRights(many...), nil, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Receive(agent.MaxAgentFrame); !errors.Is(err, agent.ErrTooManyFD) {
		t.Errorf("error %v", err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

func TestASendToOneWhoDoesNotReadEnds(t *testing.T) {
	a, _ := pair(t)
	begin := time.Now()
	err := a.Send(50*time.Millisecond, map[string]string{"op": "x", "pad": string(make([]byte, 1<<20))})
	if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestReceiveTellsTheEnd(t *testing.T) {
	a, theirs := pair(t)
	_ = theirs.Close()
	if _, _, err := a.Receive(agent.MaxAgentFrame); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}
