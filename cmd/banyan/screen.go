package main

import (
	"io"
	"unicode/utf8"
)

// screen returns standard output for a document that holds foreign text. On a
// terminal the characters that could take it over are written as U+FFFD, for
// only a person reads it there; anywhere else the bytes are left alone.
func (a *app) screen() io.Writer {
	if !a.tty {
		return a.stdout
	}
	return &screenWriter{w: a.stdout}
}

// screenWriter replaces hostile characters but for the ends of lines and tabs.
// It holds the bytes of a character that is not there wholly.
type screenWriter struct {
	w    io.Writer
	rest []byte
}

// Write implements io.Writer. It hands on all whole characters.
func (s *screenWriter) Write(p []byte) (int, error) {
	data := append(s.rest, p...)
	out := make([]byte, 0, len(data))
	for len(data) > 0 && utf8.FullRune(data) {
		r, size := utf8.DecodeRune(data)
		cr := r == '\r' && (len(data) > 1 && data[1] == '\n')
		if r == '\r' && len(data) == 1 {
			break // the next byte says whether it ends a line
		}
		if hostile(r) && r != '\n' && r != '\t' && !cr {
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, r)
		data = data[size:]
	}
	s.rest = append([]byte(nil), data...)
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
