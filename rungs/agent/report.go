package agent

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/rungs"
)

// Bounds on the texts of a done frame.
const (
	maxName = 256
	maxText = 128 << 10
	maxSkip = 1 << 10
)

// Bounds on all that one job may send: what an honest one can need, and some.
// Reading a frame costs the host far more than sending it costs the job.
const (
	maxJobFrames = 512 // 64 artifacts of 32 MiB in chunks of 256 KiB are 192
	maxJobBytes  = MaxArtifactBytes/3*4 + 2*MaxJobFrame
)

// ErrOrder is a frame that is right in itself but must not come now.
var ErrOrder = errors.New("frame out of order")

// Report is what a job said of itself, checked and bounded, and true only as
// far as the job is: no more than the job's own caller is deceived by it.
type Report struct {
	Value     map[string]string
	Exception *rungs.Exception
	Artifacts []rungs.Artifact
	Skipped   []string
}

// Signs are called by Listen when a child comes to a point before user code;
// each at most once, from Listen's goroutine. A nil one is not called.
type Signs struct {
	Ready   func(walls []string) // a forked child is behind its walls
	Started func()               // user code begins
	Failed  func(Fail)           // instead of Started; the child ends
}

// Listen reads the frames of one job from r until its end, and returns what
// the job reported. An error says why reading stopped early: the end of r
// before done is no error (the job was killed, or ended itself), a breach of
// the protocol is one, and the caller then closes the connection. The report
// holds what had come until then, without unfinished artifacts.
func Listen(r io.Reader, job rungs.Job, signs Signs) (Report, error) {
	return ListenFor(r, func() []string { return job.Artifacts }, signs)
}

// ListenFor is Listen for a child that waits for its job: patterns is called
// once, after Signs.Started, and returns the artifact patterns of the job.
func ListenFor(r io.Reader, patterns func() []string, signs Signs) (Report, error) {
	l := listener{signs: signs, ask: patterns, left: MaxArtifactBytes}
	frames, bytes := 0, 0
	for {
		body, err := ReadFrame(r, MaxJobFrame)
		if errors.Is(err, io.EOF) {
			return l.report, nil
		}
		if err != nil {
			return l.report, err
		}
		frames, bytes = frames+1, bytes+len(body)
		if frames > maxJobFrames || bytes > maxJobBytes {
			return l.report, fmt.Errorf("%w: more than one job may send", ErrFrameBody)
		}
		if err := l.take(body); err != nil {
			return l.report, err
		}
	}
}

// stage is how far a child has come.
type stage int

const (
	stageNew stage = iota
	stageReady
	stageStarted
	stageDone // also after fail
)

type listener struct {
	signs    Signs
	ask      func() []string
	patterns []string
	stage    stage
	report   Report
	partial  *rungs.Artifact
	drop     bool // partial has a name that cannot be taken
	dropped  int  // how many had
	left     int64
}

func (l *listener) take(body []byte) error {
	op, err := Op(body)
	if err != nil {
		return err
	}
	switch {
	case op == OpReady && l.stage == stageNew:
		return l.ready(body)
	case op == OpFail && l.stage < stageStarted:
		return l.fail(body)
	case op == OpStarted && l.stage < stageStarted:
		l.stage = stageStarted
		if l.signs.Started != nil {
			l.signs.Started()
		}
		l.patterns = l.ask()
		return nil
	case op == OpArtifact && l.stage == stageStarted:
		return l.artifact(body)
	case op == OpDone && l.stage == stageStarted:
		return l.done(body)
	}
	return fmt.Errorf("%w: %.32q", ErrOrder, op)
}

func (l *listener) ready(body []byte) error {
	var frame Ready
	if err := Decode(body, &frame); err != nil {
		return err
	}
	l.stage = stageReady
	if l.signs.Ready != nil {
		l.signs.Ready(frame.Walls)
	}
	return nil
}

func (l *listener) fail(body []byte) error {
	var frame Fail
	if err := Decode(body, &frame); err != nil {
		return err
	}
	l.stage = stageDone
	if l.signs.Failed != nil {
		l.signs.Failed(frame)
	}
	return nil
}

func (l *listener) artifact(body []byte) error {
	var frame Artifact
	if err := Decode(body, &frame); err != nil {
		return err
	}
	if l.partial == nil {
		if err := l.admit(frame.Path); err != nil {
			return err
		}
		l.partial = &rungs.Artifact{Path: frame.Path}
	}
	l.left -= int64(len(frame.Data))
	if frame.Path != l.partial.Path || len(frame.Data) > ChunkBytes || l.left < 0 || frame.More && len(frame.Data) == 0 {
		return fmt.Errorf("%w: artifact chunk", ErrFrameBody)
	}
	if !l.drop {
		l.partial.Data = append(l.partial.Data, frame.Data...)
	}
	if !frame.More {
		l.finish()
	}
	return nil
}

// finish ends an artifact whose last chunk has come.
func (l *listener) finish() {
	if l.drop {
		l.dropped++
	} else {
		l.report.Artifacts = append(l.report.Artifacts, *l.partial)
	}
	l.partial, l.drop = nil, false
}

// admit checks the name of a new artifact: a job could send any. One that no
// file of a result may have is dropped, and what comes behind it is still read.
func (l *listener) admit(path string) error {
	if l.drop = rungs.CheckPath(path) != nil; l.drop {
		return nil
	}
	asked := slices.ContainsFunc(l.patterns, func(p string) bool { return rungs.MatchArtifact(p, path) })
	twice := slices.ContainsFunc(l.report.Artifacts, func(a rungs.Artifact) bool { return a.Path == path })
	if !asked || twice || len(l.report.Artifacts) >= MaxArtifacts {
		return fmt.Errorf("%w: artifact name", ErrFrameBody)
	}
	return nil
}

func (l *listener) done(body []byte) error {
	var frame Done
	if err := Decode(body, &frame); err != nil {
		return err
	}
	l.stage = stageDone
	l.report.Value = frame.Value.bounded()
	if e := frame.Exception; e != nil {
		l.report.Exception = &rungs.Exception{
			Name: clip(e.Name, maxName), Message: clip(e.Message, maxText), Traceback: clip(e.Traceback, maxText),
		}
	}
	for _, s := range frame.Skipped {
		l.report.Skipped = append(l.report.Skipped, clip(s, maxSkip))
	}
	if l.dropped > 0 {
		l.report.Skipped = append(l.report.Skipped, fmt.Sprintf("%d artifacts with names that cannot be taken", l.dropped))
	}
	return nil
}

// Clip cuts untrusted text to at most n bytes of valid UTF-8.
func Clip(s string, n int) string { return clip(s, n) }

// clip cuts untrusted text to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
