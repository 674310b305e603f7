// Package server is Banyan's HTTP surface: REST over the engine, health and the
// graph store protocol.
//
// A handler decodes strictly, makes one call, and encodes; it holds no logic.
// What every request passes through stands in one file each: the request id,
// log and recovery (observe.go), authentication and the checks against foreign
// web pages (auth.go), draining (gate.go), the bounds on running and waiting
// work (limiter.go) and on buffered bytes (body.go), repeated requests
// (idempotency.go), and the one form of every error (problem.go).
//
// echo is imported by this package only, and only its router.go touches it: a
// handler sees a call and returns an answer.
//
// The routes, their statuses and examples are in docs/HTTP.md.
package server
