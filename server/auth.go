package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// authorize decides whether a request is answered at all. With a token, it must
// carry it. Without one, it must come over a socket that only this machine can
// reach, and must not have been sent by a web page: a page may not read our
// answers, but it could send us requests, or reach us under its own name by
// rebinding it to a loopback address.
func (s *Server) authorize(r *http.Request) error {
	if len(s.cfg.TokenHash) > 0 {
		return s.checkToken(r)
	}
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !localAddr(addr) {
		return errs.New(errs.Denied, "without a token only this machine is served")
	}
	if _, unix := addr.(*net.UnixAddr); !unix && !s.allowedHost(r.Host) {
		return errs.New(errs.Denied, "the Host %.100q is not this machine's", r.Host).
			WithHint("address the daemon as localhost or 127.0.0.1, or give it a token")
	}
	return checkOrigin(r)
}

// authorizeImport decides whether a request that was let in may change what the
// graph declares, or take all of it home: with a token, over a unix socket, or where the operator
// trusts every user of the machine (Config.TrustLoopback).
func (s *Server) authorizeImport(r *http.Request) error {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if _, unix := addr.(*net.UnixAddr); unix || len(s.cfg.TokenHash) > 0 || s.cfg.TrustLoopback {
		return nil
	}
	return errs.New(errs.Denied, "without a token, imports, updates and backups go over the daemon's unix socket only: "+
		"a declaration names a program that the daemon starts as its own user").
		WithHint("go through the socket in the data folder, or give the daemon a token: banyan serve --token-file FILE")
}

// checkToken compares in constant time. Hashes are compared, so that not even
// the token's length shows.
func (s *Server) checkToken(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := subtle.ConstantTimeCompare(given[:], s.cfg.TokenHash) == 1
	if same && strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	e := errs.New(errs.Denied, "a valid bearer token is needed").WithHint("send the header Authorization: Bearer TOKEN")
	return withStatus(http.StatusUnauthorized, e).withHeader("WWW-Authenticate", `Bearer realm="banyan"`)
}

// allowedHost reports whether a Host header names this machine.
func (s *Server) allowedHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return loopbackName(host) || slices.ContainsFunc(s.cfg.AllowHosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// checkOrigin refuses what a browser sends on behalf of another site. Browsers
// set Origin on every request that can change something and Sec-Fetch-Site on
// all; programs set neither.
func checkOrigin(r *http.Request) error {
	refused := errs.New(errs.Denied, "requests from another web site are refused")
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return refused
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return refused
		}
	}
	return nil
}
