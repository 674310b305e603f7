package banyan

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// MaxCodeBytes bounds a job's code.
const MaxCodeBytes = 4 << 20

// The limit of a job on each of its output streams, in bytes: what it may ask
// for, and what one has that asks for nothing.
const (
	MaxOutputBytes     = rungs.MaxOutputBytes
	DefaultOutputBytes = rungs.DefaultOutputBytes
)

// rungJob makes of a request the job that a rung runs, or says what is wrong
// with the request.
func rungJob(id ontology.RunID, j Job) (rungs.Job, error) {
	if j.Code == "" {
		return rungs.Job{}, invalidAt("/code", "the job has no code")
	}
	if len(j.Code) > MaxCodeBytes {
		return rungs.Job{}, errs.New(errs.TooLarge, "the code has %d bytes; at most %d are allowed", len(j.Code), MaxCodeBytes)
	}
	if !utf8.ValidString(j.Code) || strings.ContainsRune(j.Code, 0) {
		return rungs.Job{}, invalidAt("/code", "the code is not UTF-8 text, or has a NUL character")
	}
	files, err := rungFiles(j.Files)
	if err != nil {
		return rungs.Job{}, err
	}
	job := rungs.Job{
		ID: id, Code: j.Code, Args: j.Args, Stdin: []byte(j.Stdin), Env: j.Env,
		Files: files, Artifacts: j.Artifacts, Limits: j.Limits.rung().WithDefaults(),
	}
	return job, job.Validate()
}

// rungFiles decodes a request's files.
func rungFiles(in []File) ([]rungs.File, error) {
	out := make([]rungs.File, 0, len(in))
	for i, f := range in {
		if (f.Text == nil) == (f.Base64 == nil) {
			return nil, invalidAt(fmt.Sprintf("/files/%d", i), "file %q needs either text or base64", f.Path)
		}
		if f.Mode > 0o777 {
			return nil, invalidAt(fmt.Sprintf("/files/%d/mode", i), "file %q: mode %#o has more than permission bits", f.Path, f.Mode)
		}
		file := rungs.File{Path: f.Path, Mode: fs.FileMode(f.Mode)}
		if f.Text != nil {
			file.Data = []byte(*f.Text)
		} else {
			data, err := base64.StdEncoding.DecodeString(*f.Base64)
			if err != nil {
				return nil, invalidAt(fmt.Sprintf("/files/%d/base64", i), "file %q: the base64 text is broken", f.Path)
			}
			file.Data = data
		}
		out = append(out, file)
	}
	return out, nil
}

// rung returns the limits in the rungs' units.
func (l Limits) rung() rungs.Limits {
	return rungs.Limits{
		Wall: millis(l.WallMS), CPU: millis(l.CPUMS), MemoryBytes: l.MemoryBytes,
		PIDs: l.PIDs, OutputBytes: l.OutputBytes, FilesBytes: l.FilesBytes,
	}
}

// millis converts without overflow: what is beyond a year is a year, which
// Limits.Validate refuses.
func millis(ms int64) time.Duration {
	const year = 366 * 24 * time.Hour
	return time.Duration(max(-1, min(ms, year.Milliseconds()))) * time.Millisecond
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fillResult copies a rung's result into the one that users see.
func fillResult(res *Result, r *rungs.Result) {
	res.Status, res.ExitCode = r.Status, r.ExitCode
	if r.Signal != "" {
		res.Signal = &r.Signal
	}
	res.Stdout, res.StdoutBase64 = text(r.Stdout)
	res.Stderr, res.StderrBase64 = text(r.Stderr)
	res.Truncated, res.Result, res.Error = r.Truncated, r.Value, r.Exception
	res.Artifacts = make([]Artifact, 0, len(r.Artifacts))
	for _, a := range r.Artifacts {
		res.Artifacts = append(res.Artifacts, Artifact{Path: a.Path, Bytes: len(a.Data), Base64: base64.StdEncoding.EncodeToString(a.Data)})
	}
	res.Skipped = r.Skipped
	res.Timings.Fork, res.Timings.Run = ms(r.Fork), ms(r.Run)
	res.Usage = Usage{CPUMS: ms(r.CPU), PeakMemoryBytes: r.PeakBytes}
	res.Enforced = r.Enforced
	if res.Enforced.Namespaces == nil {
		res.Enforced.Namespaces = []string{}
	}
}

// text returns bytes as valid UTF-8, and as base64 too where they were not.
// A multi-byte character that the output limit cut in two counts as not UTF-8.
func text(b []byte) (string, *string) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	raw := base64.StdEncoding.EncodeToString(b)
	return strings.ToValidUTF8(string(b), "\uFFFD"), &raw
}

// invalidAt is an Invalid error about one place of the request.
func invalidAt(pointer, format string, args ...any) error {
	e := errs.New(errs.Invalid, format, args...)
	return e.WithParts(errs.Part{Pointer: pointer, Detail: e.Msg})
}
