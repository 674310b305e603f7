// Package units reads sizes and durations as people type them, strictly: what
// is not wholly understood is an error and never a guess.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// factors are the size suffixes: powers of 1024 with an i, of 1000 without.
// They are case-sensitive, because "mb" and "Mb" mean other things elsewhere.
var factors = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// ParseSize reads a size above zero in bytes: a whole number alone or followed
// by B, kB, MB, GB, TB, KiB, MiB, GiB or TiB. Signs, spaces, fractions and
// other suffixes are refused, and so is what does not fit an int64.
func ParseSize(s string) (int64, error) {
	digits, factor := s, int64(1)
	for _, f := range factors {
		if rest, ok := strings.CutSuffix(s, f.suffix); ok {
			digits, factor = rest, f.bytes
			break
		}
	}
	if !allDigits(digits) {
		return 0, fmt.Errorf("%q is not a size; write a whole number of bytes, or one with a unit such as 512MiB or 1GB", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("the size %q is too large", s)
	}
	if n == 0 {
		return 0, fmt.Errorf("the size %q is zero; it has to be at least one byte", s)
	}
	return n * factor, nil
}

// MaxDuration is the longest duration that ParseDuration accepts.
const MaxDuration = 366 * 24 * time.Hour

// ParseDuration reads a duration of whole milliseconds, from one to
// MaxDuration: "30s", "1m30s", "250ms". A number without a unit is refused,
// because seconds and milliseconds are both plausible.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || strings.HasPrefix(s, "+") {
		return 0, fmt.Errorf("%q is not a duration; write a number with a unit, such as 250ms, 30s or 5m", s)
	}
	switch {
	case d <= 0:
		return 0, fmt.Errorf("the duration %q is not above zero", s)
	case d%time.Millisecond != 0:
		return 0, fmt.Errorf("the duration %q is not a whole number of milliseconds", s)
	case d > MaxDuration:
		return 0, fmt.Errorf("the duration %q is longer than a year", s)
	}
	return d, nil
}

// FormatSize writes n bytes for people: three digits or so, in powers of 1024.
func FormatSize(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, i := float64(n)/(1<<10), 0
	for v >= 999.5 && i < 3 {
		v /= 1 << 10
		i++
	}
	digits := 1
	if v >= 99.95 {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB"}[i]
}

// FormatAge writes a span for people with its largest unit only: "42s", "3m",
// "7h", "12d". A negative span (clocks differ) reads as "0s".
func FormatAge(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d < time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d < 48*time.Hour:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	}
	return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
