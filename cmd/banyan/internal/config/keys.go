// Package config finds the value of each setting and says where it came from:
// a flag, the environment (BANYAN_…), the configuration file, or the default,
// in this order.
//
// There is one file, the user's; a file in the working directory is not read,
// because a folder that somebody else filled could then send code and tokens
// to a daemon of its choice.
package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
)

// Key names one setting, as it stands in the file. Its flag is the name with
// '-' for '_', its variable BANYAN_ and the name in capitals.
type Key string

// The settings.
const (
	URL           Key = "url"
	TokenFile     Key = "token_file"
	Data          Key = "data"
	Listen        Key = "listen"
	Node          Key = "node"
	Python        Key = "python"
	AllowLocal    Key = "allow_local"
	AllowDegraded Key = "allow_degraded"
	MaxParents    Key = "max_parents"
	MaxRunning    Key = "max_running"
	Idle          Key = "idle"
	MaxAge        Key = "max_age"
	QueryTimeout  Key = "query_timeout"
	MaxQueryRows  Key = "max_query_rows"
	BackupDir     Key = "backup_dir"
	BackupEvery   Key = "backup_every"
	BackupKeep    Key = "backup_keep"
	LogLevel      Key = "log_level"
	Hints         Key = "hints"
)

// Flag returns the name of the key's flag.
func (k Key) Flag() string { return strings.ReplaceAll(string(k), "_", "-") }

// Env returns the name of the key's environment variable.
func (k Key) Env() string { return "BANYAN_" + strings.ToUpper(string(k)) }

// spec is what is known of one key: its default, what it means, and the check
// that a value has to pass.
type spec struct {
	key   Key
	def   string
	help  string
	check func(string) error
}

// specs are the settings in the order in which they are shown. A default of
// "" leaves the choice to the engine.
var specs = []spec{
	{URL, "", "the daemon to use: http://HOST:PORT, https://HOST:PORT or unix:///PATH", checkURL},
	{TokenFile, "", "file that holds the bearer token", checkText},
	{Data, "", "data folder (default: /var/lib/banyan for the superuser, else banyan in the user's data folder)", checkText},
	{Listen, "127.0.0.1:7878", "address that serve listens on (default: 127.0.0.1:7878)", checkText},
	{Node, "", "name of this host in the graph; empty: the host's name", checkText},
	{Python, "", "executable of the built-in runtime python; empty: /usr/bin/python3", checkText},
	{AllowLocal, "false", "offer the local rung, which has no walls", checkBool},
	{AllowDegraded, "false", "run jobs also when a wall is missing, and say so", checkBool},
	{MaxParents, "", "most live warm parents; empty: by memory", checkCount},
	{MaxRunning, "", "most jobs running at once; empty: by cores", checkCount},
	{Idle, "", "close a parent unused for so long; empty: 30m", checkDuration},
	{MaxAge, "", "a parent takes no new job after so long; empty: 1h", checkDuration},
	{QueryTimeout, "", "limit on the time of a SPARQL query or update; empty: 30s", checkDuration},
	{MaxQueryRows, "", "most rows or triples of an answer in SPARQL; empty: 1000000", checkCount},
	{BackupDir, "", "folder for scheduled backups, which --backup-every asks for", checkText},
	{BackupEvery, "", "make a backup so often, such as 6h; empty: never", checkPeriod},
	{BackupKeep, "", "how many scheduled backups are kept; empty: 7", checkKeep},
	{LogLevel, "", "debug, info, warn, error or off; empty: info for serve, else off", checkLevel},
	{Hints, "true", "say on standard error what may surprise, such as that nothing stays warm", checkBool},
}

// Help returns the sentence that says what the key means.
func Help(k Key) string {
	for _, s := range specs {
		if s.key == k {
			return s.help
		}
	}
	return ""
}

func checkText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q contains a control character", s)
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return fmt.Errorf("%q is not a URL", s)
	}
	plain := u.User == nil && u.RawQuery == "" && u.Fragment == ""
	switch u.Scheme {
	case "http", "https":
		if plain && u.Hostname() != "" && (u.Path == "" || u.Path == "/") {
			return nil
		}
		return fmt.Errorf("%q is not of the form %s://HOST:PORT", u.Redacted(), u.Scheme)
	case "unix":
		if plain && u.Host == "" && strings.HasPrefix(u.Path, "/") {
			return nil
		}
		return fmt.Errorf("%q is not of the form unix:///PATH", u.Redacted())
	}
	return fmt.Errorf("%q does not begin with http://, https:// or unix://", u.Redacted())
}

func checkBool(s string) error {
	if s != "true" && s != "false" {
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}

func checkCount(s string) error {
	if s == "" {
		return nil
	}
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > 1_000_000 {
		return fmt.Errorf("%q is not a whole number between 1 and 1000000", s)
	}
	return nil
}

// The bounds are the engine's own; said here, the error names the setting as
// the user wrote it.
func checkDuration(s string) error {
	if s == "" {
		return nil
	}
	d, err := units.ParseDuration(s)
	if err != nil {
		return err
	}
	if d < 10*time.Millisecond || d > 30*24*time.Hour {
		return fmt.Errorf("%q is not between 10ms and 720h", s)
	}
	return nil
}

// checkPeriod is checkDuration for what is not done every moment.
func checkPeriod(s string) error {
	if err := checkDuration(s); err != nil || s == "" {
		return err
	}
	if d, err := units.ParseDuration(s); err != nil || d < time.Minute {
		return fmt.Errorf("%q is not between 1m and 720h", s)
	}
	return nil
}

func checkKeep(s string) error {
	if s == "" {
		return nil
	}
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > 10_000 {
		return fmt.Errorf("%q is not a whole number between 1 and 10000", s)
	}
	return nil
}

func checkLevel(s string) error {
	switch s {
	case "", "debug", "info", "warn", "error", "off":
		return nil
	}
	return fmt.Errorf("%q is not one of debug, info, warn, error, off", s)
}
