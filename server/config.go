package server

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// Config is what a Server needs. Engine is required; New takes the default for
// every other field that is zero.
type Config struct {
	// Engine does the work.
	Engine Engine
	// Logger takes the access log and the texts of internal errors.
	Logger *slog.Logger

	// TokenHash is HashToken of the bearer token that every request but
	// /healthz must carry. Without one, only requests over a unix socket or a
	// loopback address are answered, and their Host and Origin are checked.
	TokenHash []byte
	// TrustLoopback lets whoever reaches the daemon over TCP import without a
	// token. A declaration names an executable that the daemon starts as its
	// own user, so this makes every user of the machine that user; leave it
	// off where there is more than one. Over a unix socket, which its file's
	// permissions guard, importing needs neither.
	TrustLoopback bool
	// AllowHosts are names beside localhost and the loopback addresses that a
	// Host header may carry when there is no token.
	AllowHosts []string

	// MaxBodyBytes bounds a JSON body (413 beyond).
	MaxBodyBytes int64
	// MaxImportBytes bounds the body of an import (413 beyond).
	MaxImportBytes int64
	// MaxBufferedBytes bounds all JSON bodies held at one time (429 beyond).
	MaxBufferedBytes int64
	// MaxResultBytes bounds what the results of jobs take up in memory at one
	// time, from the job's start to the sending of its answer (429 beyond, after
	// QueueTimeout). A job takes eight times its limit output_bytes, and 32 MiB
	// for artifacts; when it has ended, what it did bring back.
	MaxResultBytes int64

	// MaxConcurrent is how many executes and warm-ups run at one time; beside
	// them, as many plans and reaps.
	MaxConcurrent int
	// MaxQueue is how many more may wait for their turn (429 beyond).
	MaxQueue int
	// QueueTimeout is how long one waits for its turn (429 after it).
	QueueTimeout time.Duration
	// MaxConns bounds open connections; one more is closed at once.
	MaxConns int

	// ReadHeaderTimeout bounds the reading of a request's header.
	ReadHeaderTimeout time.Duration
	// BodyTimeout bounds the reading of a JSON body (408 after it).
	BodyTimeout time.Duration
	// ImportTimeout bounds the reading of an import's body (408 after it).
	ImportTimeout time.Duration
	// WriteTimeout bounds the writing of an answer; of a streamed one, each
	// piece.
	WriteTimeout time.Duration
	// IdleTimeout bounds how long a connection is kept between requests.
	IdleTimeout time.Duration
	// DrainTimeout is how long running requests may go on after Serve's
	// context has ended; then they are cancelled.
	DrainTimeout time.Duration

	// IdempotencyKeys is how many answers are kept for repeated requests.
	IdempotencyKeys int
	// IdempotencyBytes bounds the size of these answers together.
	IdempotencyBytes int64
	// IdempotencyTTL is how long an answer is kept.
	IdempotencyTTL time.Duration
}

// Default returns the defaults, without an Engine.
func Default() Config {
	return Config{
		Logger:            slog.Default(),
		MaxBodyBytes:      16 << 20,
		MaxImportBytes:    256 << 20,
		MaxBufferedBytes:  256 << 20,
		MaxResultBytes:    1 << 30,
		MaxConcurrent:     64,
		MaxQueue:          256,
		QueueTimeout:      30 * time.Second,
		MaxConns:          1024,
		ReadHeaderTimeout: 10 * time.Second,
		BodyTimeout:       30 * time.Second,
		ImportTimeout:     5 * time.Minute,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		DrainTimeout:      20 * time.Second,
		IdempotencyKeys:   10_000,
		IdempotencyBytes:  64 << 20,
		IdempotencyTTL:    24 * time.Hour,
	}
}

// HashToken returns what Config.TokenHash takes. A token is a long random
// string, so a plain SHA-256 keeps it: there is nothing to guess from a list.
func HashToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// Validate returns an Invalid error that names every setting that cannot work.
// Zero fields are valid: New takes their defaults.
func (c Config) Validate() error {
	var parts []errs.Part
	bad := func(setting, format string, args ...any) {
		parts = append(parts, errs.Part{Pointer: setting, Detail: fmt.Sprintf(format, args...)})
	}
	if c.Engine == nil {
		bad("Engine", "is missing")
	}
	if n := len(c.TokenHash); n != 0 && n != sha256.Size {
		bad("TokenHash", "has %d bytes; HashToken gives %d", n, sha256.Size)
	}
	for setting, n := range c.numbers() {
		if n < 0 {
			bad(setting, "is negative")
		}
	}
	if c.MaxBodyBytes > 0 && c.MaxBufferedBytes > 0 && c.MaxBufferedBytes <= c.MaxBodyBytes {
		bad("MaxBufferedBytes", "is not more than MaxBodyBytes, so no body of that size could ever be read")
	}
	if len(parts) == 0 {
		return nil
	}
	return errs.New(errs.Invalid, "server setting %s %s", parts[0].Pointer, parts[0].Detail).WithParts(parts...)
}

// numbers returns every setting that must not be negative.
func (c Config) numbers() map[string]int64 {
	return map[string]int64{
		"MaxBodyBytes": c.MaxBodyBytes, "MaxImportBytes": c.MaxImportBytes, "MaxBufferedBytes": c.MaxBufferedBytes,
		"MaxResultBytes": c.MaxResultBytes,
		"MaxConcurrent":  int64(c.MaxConcurrent), "MaxQueue": int64(c.MaxQueue), "MaxConns": int64(c.MaxConns),
		"QueueTimeout": int64(c.QueueTimeout), "ReadHeaderTimeout": int64(c.ReadHeaderTimeout),
		"BodyTimeout": int64(c.BodyTimeout), "ImportTimeout": int64(c.ImportTimeout),
		"WriteTimeout": int64(c.WriteTimeout), "IdleTimeout": int64(c.IdleTimeout), "DrainTimeout": int64(c.DrainTimeout),
		"IdempotencyKeys": int64(c.IdempotencyKeys), "IdempotencyBytes": c.IdempotencyBytes, "IdempotencyTTL": int64(c.IdempotencyTTL),
	}
}

// withDefaults fills every zero field but Engine, TokenHash and AllowHosts.
func (c Config) withDefaults() Config {
	d := Default()
	if c.Logger == nil {
		c.Logger = d.Logger
	}
	fill(&c.MaxBodyBytes, d.MaxBodyBytes)
	fill(&c.MaxImportBytes, d.MaxImportBytes)
	fill(&c.MaxBufferedBytes, max(d.MaxBufferedBytes, 2*c.MaxBodyBytes))
	fill(&c.MaxResultBytes, d.MaxResultBytes)
	fill(&c.MaxConcurrent, d.MaxConcurrent)
	fill(&c.MaxQueue, d.MaxQueue)
	fill(&c.QueueTimeout, d.QueueTimeout)
	fill(&c.MaxConns, d.MaxConns)
	fill(&c.ReadHeaderTimeout, d.ReadHeaderTimeout)
	fill(&c.BodyTimeout, d.BodyTimeout)
	fill(&c.ImportTimeout, d.ImportTimeout)
	fill(&c.WriteTimeout, d.WriteTimeout)
	fill(&c.IdleTimeout, d.IdleTimeout)
	fill(&c.DrainTimeout, d.DrainTimeout)
	fill(&c.IdempotencyKeys, d.IdempotencyKeys)
	fill(&c.IdempotencyBytes, d.IdempotencyBytes)
	fill(&c.IdempotencyTTL, d.IdempotencyTTL)
	return c
}

// fill sets a zero field to its default.
func fill[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
