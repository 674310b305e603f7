package units

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	good := map[string]int64{
		"1": 1, "512": 512, "1B": 1, "1kB": 1000, "1KB": 1000, "1KiB": 1024,
		"512MiB": 512 << 20, "1MB": 1e6, "2GiB": 2 << 30, "3GB": 3e9, "1TB": 1e12, "1TiB": 1 << 40,
		"9223372036854775807": 1<<63 - 1, "0012": 12,
	}
	for in, want := range good {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	bad := []string{
		"", "B", "MiB", "0", "0MiB", "-1", "+1", "1.5MiB", "1e9", "1 MiB", " 1", "1 ", "1M", "1m", "1mb", "1Mb",
		"1mib", "1MiBB", "1KiBMiB", "0x10", "1_000", "9223372036854775808", "9223372036854775807KiB", "8388608TiB", "١",
	}
	for _, in := range bad {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d; want an error", in, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"30s": 30 * time.Second, "250ms": 250 * time.Millisecond, "1m30s": 90 * time.Second,
		"1.5s": 1500 * time.Millisecond, "1h": time.Hour, "1ms": time.Millisecond, "5000us": 5 * time.Millisecond,
	}
	for in, want := range good {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "30", "0", "0s", "-1s", "+1s", "1us", "1500us", "1 s", "30sec", "1d", "9000h", "99999999999h"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %s; want an error", in, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 100 << 10: "100 KiB",
		1<<20 - 1: "1.0 MiB", 120 << 20: "120 MiB", 5 << 30: "5.0 GiB", 3 << 40: "3.0 TiB", 5000 << 40: "5000 TiB",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q; want %q", n, got, want)
		}
	}
}

func TestFormatAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 47 * time.Hour: "47h", 49 * time.Hour: "2d",
	} {
		if got := FormatAge(d); got != want {
			t.Errorf("FormatAge(%s) = %q; want %q", d, got, want)
		}
	}
}

// A size that was accepted is the number times its unit, without overflow.
func TestParseSizeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(factors).Draw(t, "unit")
		n := rapid.Int64Range(1, (1<<63-1)/f.bytes).Draw(t, "n")
		got, err := ParseSize(strconv.FormatInt(n, 10) + f.suffix)
		if err != nil || got != n*f.bytes || got/f.bytes != n {
			t.Fatalf("%d%s = %d, %v", n, f.suffix, got, err)
		}
	})
}
