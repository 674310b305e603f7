package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/client"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// serveOptions are the flags of serve; all are settings.
type serveOptions struct {
	set *config.Set
}

// newServeCmd makes "banyan serve"; runF replaces what it does, in tests.
func newServeCmd(a *app, runF func(context.Context, *serveOptions) error) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon, which keeps parents warm",
		Long: `Serve HTTP on an address and on the unix socket banyan.sock in the data folder, which
only the folder's owner can use. Without a token the address has to be this machine's
own. SIGINT or SIGTERM lets running jobs end; a second one does not.`,
		Example: "  banyan serve --listen 127.0.0.1:7878",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.serve(cmd.Context(), o.set)
		},
	}
	addSettings(cmd.Flags(), config.Listen, config.Node, config.Python, config.AllowLocal, config.AllowDegraded,
		config.MaxParents, config.MaxRunning, config.Idle, config.MaxAge, config.QueryTimeout, config.MaxQueryRows,
		config.BackupDir, config.BackupEvery, config.BackupKeep)
	return cmd
}

// serve runs the daemon until ctx ends.
func (a *app) serve(ctx context.Context, set *config.Set) (err error) {
	token, err := readToken(set.String(config.TokenFile))
	if err != nil {
		return err
	}
	addr := set.String(config.Listen)
	if err := checkListen(addr, token != ""); err != nil {
		return err
	}
	if err := needData(set); err != nil {
		return err
	}
	if (set.String(config.BackupDir) == "") != (set.String(config.BackupEvery) == "") {
		return errs.New(errs.Invalid, "scheduled backups need both a folder and a period").
			WithHint("banyan serve --backup-dir DIR --backup-every 6h")
	}
	path := absolutePath(sock.Path(set.String(config.Data)))
	if err := prepareData(ctx, set.String(config.Data), path); err != nil {
		return err
	}
	// The address first: a port that is taken is found out before a store is
	// opened, and nobody is answered before Serve.
	tcp, err := listenTCP(ctx, addr)
	if err != nil {
		return err
	}
	defer tcp.Close()
	log := a.logger(set, "info")
	eng, err := a.openNamed(ctx, set, log)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := eng.Close(); err == nil {
			err = cerr
		}
	}()
	srv, err := newServer(eng, log, token)
	if err != nil {
		return err
	}
	// The engine holds the data folder now, so no other daemon contends for
	// the socket.
	unix, err := sock.Listen(ctx, path)
	if err != nil {
		return err
	}
	defer unix.Close()
	fmt.Fprintf(a.stderr, "banyan: ready on http://%s and %s\n", tcp.Addr(), client.UnixURL(path))
	return srv.Serve(ctx, tcp, unix)
}

// listenTCP listens on the address of the setting listen.
func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	var op *net.OpError
	why := err
	if errors.As(err, &op) {
		why = op.Err
	}
	return nil, errs.Wrap(errs.Unavailable, err, "cannot listen at %s: %v", addr, why).WithHint("banyan serve --listen 127.0.0.1:0")
}

// prepareData makes the data folder, which only its owner may use, and refuses
// one that others may write to: they could put a socket of their own there. A
// daemon that serves the folder already is named.
func prepareData(ctx context.Context, dir, socket string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the data folder %s cannot be made: %v", dir, config.Cause(err))
	}
	st, err := os.Stat(dir)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the data folder %s cannot be looked at: %v", dir, config.Cause(err))
	}
	if st.Mode().Perm()&0o022 != 0 {
		return errs.New(errs.Denied, "others may write to the data folder %s", dir).WithHint("chmod 700 %s", shellQuote(dir))
	}
	if _, err := sock.Owner(socket); err != nil {
		return nil // nothing there, or something that sock.Listen will name
	}
	if conn, err := sock.Dial(ctx, socket, time.Second); err == nil {
		conn.Close()
		return sock.Taken(socket)
	}
	return nil
}
