package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan"
)

// smallText is up to where a text of a result is encoded with the rest of it.
// As JSON a text may have six times its length ("\u0001"), and net/http takes
// an answer whole: a large one is sent piece by piece instead.
const smallText = 64 << 10

// pieceBytes is how much of a text is encoded at a time.
const pieceBytes = 16 << 10

// resultAnswer is the answer of an execute.
func resultAnswer(res *banyan.Result) (answer, error) {
	frame, texts := takeOut(*res)
	if len(texts) == 0 {
		return ok(res), nil
	}
	raw, err := encode(frame)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: 200, contentType: typeJSON}
	a.stream = func(_ context.Context, w io.Writer) error { return splice(w, raw, texts) }
	var length counter
	if err := splice(&length, raw, texts); err != nil {
		return answer{}, err
	}
	a.length = int64(length)
	return a, nil
}

// cut is a text that was taken out of a result, and what stands in its place.
type cut struct {
	mark []byte // as it stands in the JSON, with its quotes
	text string
}

// takeOut returns a copy of a result in which marks stand for its large texts,
// and these texts in the order in which they are encoded. A mark is random, so
// that no job can put one into its own output.
func takeOut(res banyan.Result) (banyan.Result, []cut) {
	var texts []cut
	swap := func(s string) string {
		if len(s) <= smallText {
			return s
		}
		mark := rand.Text()
		texts = append(texts, cut{mark: []byte(`"` + mark + `"`), text: s})
		return mark
	}
	swapPointer := func(s *string) *string {
		if s == nil {
			return nil
		}
		v := swap(*s)
		return &v
	}
	res.Stdout, res.Stderr = swap(res.Stdout), swap(res.Stderr)
	res.StdoutBase64, res.StderrBase64 = swapPointer(res.StdoutBase64), swapPointer(res.StderrBase64)
	artifacts := make([]banyan.Artifact, len(res.Artifacts))
	for i, a := range res.Artifacts {
		a.Base64 = swap(a.Base64)
		artifacts[i] = a
	}
	if res.Artifacts != nil {
		res.Artifacts = artifacts
	}
	return res, texts
}

// splice writes raw with each mark replaced by the text that it stands for.
func splice(w io.Writer, raw []byte, texts []cut) error {
	for _, t := range texts {
		before, after, _ := bytes.Cut(raw, t.mark)
		if _, err := w.Write(before); err != nil {
			return err
		}
		if err := writeText(w, t.text); err != nil {
			return err
		}
		raw = after
	}
	_, err := w.Write(raw)
	return err
}

// writeText writes s as a JSON string, a piece at a time.
func writeText(w io.Writer, s string) error {
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	for len(s) > 0 {
		n := min(len(s), pieceBytes)
		for n < len(s) && n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n-- // not in the middle of a character
		}
		piece, err := marshal(s[:n])
		if err != nil {
			return err
		}
		piece = bytes.TrimSpace(piece)
		if _, err := w.Write(piece[1 : len(piece)-1]); err != nil {
			return err
		}
		s = s[n:]
	}
	_, err := io.WriteString(w, `"`)
	return err
}

// counter counts what is written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// resultBytes is what a result holds in memory, but for a few small members.
func resultBytes(res *banyan.Result) int64 {
	n := len(res.Stdout) + len(res.Stderr)
	for _, p := range []*string{res.StdoutBase64, res.StderrBase64} {
		if p != nil {
			n += len(*p)
		}
	}
	for _, a := range res.Artifacts {
		n += len(a.Base64)
	}
	for _, s := range res.Result {
		n += len(s)
	}
	return int64(n)
}
