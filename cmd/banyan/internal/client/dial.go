package client

import (
	"context"
	"net"
	"os"

	"github.com/seed-ff860830/banyan/internal/errs"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/sock"
)

// dialUnix connects to a daemon's socket. The socket has to belong to the user
// or to the superuser: whoever else put one there would be handed the user's
// code and token.
func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	owner, err := sock.Owner(path)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "no daemon answers at unix://%s: %v", path, err).WithHint("banyan serve")
	}
	if owner != 0 && owner != os.Geteuid() {
		return nil, errs.New(errs.Denied, "the socket %s belongs to another user", path)
	}
	return sock.Dial(ctx, path, dialTimeout)
}
