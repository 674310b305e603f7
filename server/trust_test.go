package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/server"
)

// TestImportNeedsMoreThanALoopbackAddress: a declaration names a program that
// the daemon starts as its own user, so reaching a port of this machine is not
// leave enough to declare one.
func TestImportNeedsMoreThanALoopbackAddress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.sock")
	for _, c := range []struct {
		name    string
		network string
		tweak   func(*server.Config)
		header  string
		status  int
	}{
		{"tcp", "tcp", nil, "", 403},
		{"unix socket", "unix", nil, "", 201},
		{"tcp with a token", "tcp", func(c *server.Config) { c.TokenHash = server.HashToken("s3cret") }, "Authorization: Bearer s3cret", 201},
		{"tcp, every user trusted", "tcp", func(c *server.Config) { c.TrustLoopback = true }, "", 201},
	} {
		t.Run(c.name, func(t *testing.T) {
			var imports atomic.Int64
			eng := &fake{imports: func(context.Context, io.Reader, banyan.ImportOptions) (banyan.ImportReport, error) {
				imports.Add(1)
				return banyan.ImportReport{Triples: 1}, nil
			}}
			sock, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			sv := serve(t, eng, func(cfg *server.Config) {
				cfg.TrustLoopback = false
				if c.tweak != nil {
					c.tweak(cfg)
				}
			}, listen(t), sock)
			r := sv.rig
			if c.network == "unix" {
				dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", path)
				}
				r = &rig{t: t, url: "http://banyan", log: sv.log, client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
				defer r.client.CloseIdleConnections()
			}
			headers := []string{"Content-Type: text/turtle"}
			if c.header != "" {
				headers = append(headers, c.header)
			}
			a := r.do("PUT", "/graphs?graph=urn:x", "<urn:a> <urn:b> <urn:c> .", headers...)
			if a.status != c.status {
				t.Errorf("status %d, want %d: %s", a.status, c.status, a.body)
			}
			if did := imports.Load() > 0; did != (c.status == 201) {
				t.Errorf("the engine was asked to import: %v", did)
			}
		})
	}
}
