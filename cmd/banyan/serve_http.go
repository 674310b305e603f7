package main

import (
	"context"
	"log/slog"
	"net"

	"github.com/seed-ff860830/banyan/server"
)

// httpServer serves an engine until its context ends.
type httpServer interface {
	Serve(ctx context.Context, listeners ...net.Listener) error
}

// newServer makes the HTTP surface of an engine; token "" wants none.
func newServer(eng engine, log *slog.Logger, token string) (httpServer, error) {
	cfg := server.Config{Engine: eng, Logger: log}
	if token != "" {
		cfg.TokenHash = server.HashToken(token)
	}
	srv, err := server.New(cfg)
	if err != nil {
		return nil, err // and no nil *Server in an interface
	}
	return srv, nil
}

// checkListen refuses an address that other machines reach, without a token.
func checkListen(addr string, hasToken bool) error { return server.CheckListen(addr, hasToken) }
