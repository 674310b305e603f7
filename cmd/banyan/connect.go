package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/client"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// probeTimeout bounds the question whether a daemon answers at one place.
const probeTimeout = 2 * time.Second

// defaultTCP is where a daemon listens unless it is told otherwise.
const defaultTCP = "http://127.0.0.1:7878"

// connect returns the daemon to use, or else an engine in this process, and
// then says that nothing stays warm.
func (a *app) connect(ctx context.Context, set *config.Set) (backend, error) {
	found, err := a.daemon(ctx, set)
	if found != nil || err != nil {
		return found, err
	}
	if err := needData(set); err != nil {
		return nil, err
	}
	// Scheduled backups are the daemon's: a command that lives for a moment
	// would make one each time.
	eng, err := a.openNamed(ctx, set.Without(config.BackupDir, config.BackupEvery), a.logger(set, "off"))
	if err != nil {
		return nil, err
	}
	a.hint(set, "no daemon runs, so this process does the work and nothing stays warm (start one: banyan serve)")
	return eng, nil
}

// openNamed opens an engine. Where another process has the data folder, or this
// one may not enter it, the error names the folder: the engine does not, since
// its texts also go to callers who must not learn paths.
func (a *app) openNamed(ctx context.Context, set *config.Set, log *slog.Logger) (engine, error) {
	eng, err := a.openPatiently(ctx, set, log)
	var known *errs.Error
	if errors.As(err, &known) && known.Kind == errs.Unavailable && errors.Is(err, os.ErrPermission) {
		return nil, errs.Wrap(errs.Unavailable, err, "the data folder %s cannot be used: permission denied", absolutePath(set.String(config.Data))).
			WithHint("banyan --data DIR …")
	}
	if errors.As(err, &known) && known.ID == "" && (known.Kind == errs.Conflict || known.Kind == errs.Corrupt) {
		return nil, known.WithID(absolutePath(set.String(config.Data)))
	}
	return eng, err
}

// How long a data folder that is taken is tried again, and how often. A command
// without a daemon holds it for about half a second; a daemon holds it for
// good, and who meets one shall be told within two seconds.
const (
	patience = 1200 * time.Millisecond
	tryAgain = 100 * time.Millisecond
)

// openPatiently opens an engine, and waits a moment where another command
// holds the data folder.
func (a *app) openPatiently(ctx context.Context, set *config.Set, log *slog.Logger) (engine, error) {
	for left := patience; ; left -= tryAgain {
		eng, err := a.open(ctx, set, log)
		if errs.KindOf(err) != errs.Conflict || left <= 0 {
			return eng, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(tryAgain):
		}
	}
}

// daemon looks for a running daemon: the one that was named; else at the data
// folder's socket; else, if the data folder is the usual one, at the usual
// address. It returns nil if there is none. One that was named has to answer.
//
// Whoever chose a data folder means its contents, so another folder's daemon
// at the usual address would be the wrong one. And since anybody on this
// machine may listen there, the token is not sent to it: a daemon that wants
// one has to be named.
func (a *app) daemon(ctx context.Context, set *config.Set) (backend, error) {
	token, err := readToken(set.String(config.TokenFile))
	if err != nil {
		return nil, err
	}
	if url := set.String(config.URL); url != "" {
		c, err := client.New(client.Config{URL: url, Token: token})
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	if dir := set.String(config.Data); dir != "" {
		path := absolutePath(sock.Path(dir))
		if _, err := sock.Owner(path); err == nil {
			c, err := probe(ctx, client.Config{URL: client.UnixURL(path), Token: token})
			if c != nil || err != nil {
				return asBackend(c), err
			}
		}
	}
	if set.Chosen(config.Data) {
		return nil, nil
	}
	c, err := probe(ctx, client.Config{URL: a.tcp})
	return asBackend(c), err
}

// asBackend keeps a nil client out of the interface.
func asBackend(c *client.Client) backend {
	if c == nil {
		return nil
	}
	return c
}

// probe returns a client if a banyan daemon answers, and nil if none does.
func probe(ctx context.Context, cfg client.Config) (*client.Client, error) {
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	pctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if c.IsBanyan(pctx) {
		return c, nil
	}
	_ = c.Close() // it only gives connections back
	if ctx.Err() != nil {
		return nil, errs.Wrap(errs.Canceled, ctx.Err(), "interrupted")
	}
	return nil, nil
}

// needData refuses to go on without a data folder.
func needData(set *config.Set) error {
	if set.String(config.Data) == "" {
		return errs.New(errs.Invalid, "no data folder is known: neither HOME nor XDG_DATA_HOME is set").WithHint("banyan --data DIR …")
	}
	return nil
}

// maxToken bounds a token file, in bytes.
const maxToken = 4 << 10

// readToken reads a bearer token: the one line of a file; "" for no file.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", errs.Wrap(errs.Invalid, err, "the token file %s cannot be opened: %v", path, config.Cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", errs.Wrap(errs.Invalid, err, "the token file %s cannot be read: %v", path, config.Cause(err))
	}
	token := strings.TrimSpace(string(data))
	visible := func(r rune) bool { return r > ' ' && r < 0x7f }
	if len(data) > maxToken || token == "" || strings.ContainsFunc(token, func(r rune) bool { return !visible(r) }) {
		return "", errs.New(errs.Invalid, "the token file %s does not hold one line of visible ASCII characters", path).
			WithHint("head -c 32 /dev/urandom | base64 > %s", shellQuote(path))
	}
	return token, nil
}

// using runs f with a backend and closes it. A close that fails is an error
// only if nothing went wrong before it: an import that was not written out is
// not done.
func (a *app) using(ctx context.Context, set *config.Set, f func(backend) error) error {
	b, err := a.connect(ctx, set)
	if err != nil {
		return err
	}
	err = f(b)
	cerr := b.Close()
	if cerr == nil {
		return err
	}
	if err == nil {
		return cerr
	}
	var exit exitError
	if errors.As(err, &exit) {
		fmt.Fprintf(a.stderr, "banyan: %s\n", cleanLine(sentence(cerr)))
	}
	return err
}
