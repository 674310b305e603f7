package server

import (
	"net"
	"net/netip"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// CheckListen says whether the daemon may listen at addr ("host:port", or
// "unix:" and a path). Without a token it refuses, with a Denied error, every
// address that another machine could reach: whoever can reach an execute
// endpoint can run code. An empty host means every address, and so is refused;
// a name is only trusted if it is localhost, since no other is sure to stay on
// this machine. A unix socket is guarded by the permissions of its file, which
// are the caller's to set.
func CheckListen(addr string, hasToken bool) error {
	if strings.HasPrefix(addr, "unix:") {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "%q is not a host:port to listen at", addr).
			WithHint("--listen 127.0.0.1:7878")
	}
	if hasToken || loopbackName(host) {
		return nil
	}
	return errs.New(errs.Denied, "refusing to listen at %q without a token: other machines could run code here", addr).
		WithHint("listen at 127.0.0.1, or give a token with --token-file")
}

// loopbackName reports whether a host as it stands in an address or in a Host
// header (without port) is this machine's loopback.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" {
		return true
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// localAddr reports whether only this machine can reach a socket bound to addr.
func localAddr(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}
