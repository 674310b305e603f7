// Command banyan runs code snippets in sandboxes that start warm. It is a
// client of a running daemon, or of an engine in its own process where there
// is none; "banyan serve" is the daemon.
//
// What it prints on standard output is data; progress, hints and errors go to
// standard error. Its JSON output is described in docs/CLI_JSON.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := withSignals(context.Background())
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// run is the whole program but for the signals: it does what args say and
// returns the exit code. env looks up an environment variable.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{
		stdin: stdin, stdout: stdout, stderr: stderr, env: env,
		tty: isTerminal(stdout), errTTY: isTerminal(stderr),
		root: os.Geteuid() == 0, now: time.Now, open: openEngine, tcp: defaultTCP,
	}
	root := newRootCmd(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return a.finish(ctx, err)
}

// exitError ends the program with a job's own exit code and no text.
type exitError struct{ code int }

// Error names the code.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// signalError is the cause of a context that a signal ended.
type signalError struct{ sig syscall.Signal }

// Error names the signal.
func (e signalError) Error() string { return "interrupted by a signal: " + e.sig.String() }

// withSignals returns a context that the first SIGINT or SIGTERM ends, so that
// all can be wound up; a second one ends the process at once. stop gives the
// signals back and ends the goroutine.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seen := 0; ; seen++ {
			select {
			case s := <-got:
				sig, _ := s.(syscall.Signal)
				if seen > 0 {
					os.Exit(128 + int(sig))
				}
				cancel(signalError{sig})
			case <-quit:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		close(quit)
		<-done
		cancel(nil)
	}
}

// signalOf returns the signal that ended ctx; ok is false if none did.
func signalOf(ctx context.Context) (sig syscall.Signal, ok bool) {
	var e signalError
	if errors.As(context.Cause(ctx), &e) {
		return e.sig, true
	}
	return 0, false
}
