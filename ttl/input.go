package ttl

import (
	"errors"
	"io"
	"unicode/utf8"
)

const (
	bufferStart = 64 << 10
	// excerptBytes is kept before the token in hand, for the excerpt of an error.
	excerptBytes = 4 * excerptRunes
	// maxEmptyReads is how often in a row a reader may give nothing.
	maxEmptyReads = 100
)

// errTooManyBytes marks the end of an input that is over Limits.Bytes.
var errTooManyBytes = errors.New("input over its limit")

// input is a window on the document: buf[pos:end] is what is not read yet, and
// buf[end] is always NUL, so that a scanning loop needs no test for the end.
// While a token is scanned pos stays at its first byte, and more keeps
// everything from there on.
type input struct {
	src  io.Reader
	max  int64 // Limits.Bytes
	buf  []byte
	pos  int
	end  int
	off  int64 // the offset in the document of buf[0]
	err  error // why there is no more: io.EOF, errTooManyBytes, or the reader's own
	done bool  // err is io.EOF itself: the document is whole
	line int   // the line of pos, from 1

	lineOff int64 // the offset of the line's first byte
	extra   int64 // bytes on this line before pos that begin no character
	crOff   int64 // the offset behind the last CR, where an LF counts for nothing
	broken  bool  // pos is in a comment, at bytes that are not UTF-8
}

func (in *input) init(src io.Reader, maxBytes int64) {
	*in = input{src: src, max: maxBytes, buf: make([]byte, bufferStart), line: 1, crOff: -1}
}

// skipMark passes over the byte order mark with which some editors begin a
// UTF-8 file.
func (in *input) skipMark() {
	const mark = "\xEF\xBB\xBF"
	if in.at(0) == mark[0] && in.at(1) == mark[1] && in.at(2) == mark[2] {
		in.pos += len(mark)
		in.lineOff = int64(len(mark))
	}
}

// more reads on. It returns where the byte at index i has moved to, and false
// if there is no more.
func (in *input) more(i int) (int, bool) {
	if in.err != nil {
		return i, false
	}
	if in.end == len(in.buf)-1 {
		if drop := in.pos - excerptBytes; drop > 0 {
			copy(in.buf, in.buf[drop:in.end])
			in.pos, in.end, i = in.pos-drop, in.end-drop, i-drop
			in.off += int64(drop)
		} else {
			grown := make([]byte, 2*len(in.buf))
			copy(grown, in.buf[:in.end])
			in.buf = grown
		}
	}
	n := in.read()
	in.end += n
	in.buf[in.end] = 0
	if in.off+int64(in.end) > in.max {
		in.end = int(max(in.max-in.off, 0))
		in.buf[in.end] = 0
		in.err, in.done = errTooManyBytes, false
	}
	return i, in.end > i
}

// read fills the free part of the buffer with at least one byte, or sets err.
func (in *input) read() int {
	free := in.buf[in.end : len(in.buf)-1]
	for range maxEmptyReads {
		n, err := in.src.Read(free)
		if n < 0 || n > len(free) {
			in.err = errors.New("reader returned an impossible count")
			return 0
		}
		if err != nil {
			in.err = err
			// What wraps io.EOF is a failure that cut the document short.
			in.done = err == io.EOF
		}
		if n > 0 || err != nil {
			return n
		}
	}
	in.err = io.ErrNoProgress
	return 0
}

// at returns the byte n places behind pos, 0 if the input ends before it.
func (in *input) at(n int) byte {
	for in.pos+n >= in.end {
		if _, ok := in.more(in.end); !ok {
			return 0
		}
	}
	return in.buf[in.pos+n]
}

// rune decodes the character at index i. It returns the index that i has
// moved to, and size 0 if the bytes there are not UTF-8 or there are none.
func (in *input) rune(i int) (r rune, size, at int) {
	rel := i - in.pos // what more leaves as it is
	for !utf8.FullRune(in.buf[in.pos+rel : in.end]) {
		if _, ok := in.more(in.end); !ok {
			break
		}
	}
	i = in.pos + rel
	r, size = utf8.DecodeRune(in.buf[i:in.end])
	if r == utf8.RuneError && size <= 1 {
		size = 0
	}
	return r, size, i
}

// advance moves pos to index i over bytes that may hold line ends and
// characters of several bytes.
func (in *input) advance(i int) {
	in.line, in.lineOff, in.extra, in.crOff = in.count(i)
	in.pos = i
}

// count returns the line state as it is at index i, at or behind pos.
func (in *input) count(i int) (line int, lineOff, extra, crOff int64) {
	line, lineOff, extra, crOff = in.line, in.lineOff, in.extra, in.crOff
	for k := in.pos; k < i; k++ {
		next := in.off + int64(k) + 1
		switch c := in.buf[k]; {
		case c == '\n' && crOff == next-1:
			lineOff = next
		case c == '\n' || c == '\r':
			line, lineOff, extra = line+1, next, 0
			if c == '\r' {
				crOff = next
			}
		case c >= 0x80 && !utf8.RuneStart(c):
			extra++
		}
	}
	return line, lineOff, extra, crOff
}

// here returns the position of pos.
func (in *input) here() Position {
	return Position{in.line, int(in.off+int64(in.pos)-in.lineOff-in.extra) + 1}
}

// placeOf returns the position of index i, at or behind pos.
func (in *input) placeOf(i int) Position {
	line, lineOff, extra, _ := in.count(i)
	return Position{line, int(in.off+int64(i)-lineOff-extra) + 1}
}

// excerpt returns the line around index i with a caret.
func (in *input) excerpt(i int) string {
	_, lineOff, _, _ := in.count(i)
	from := int(max(lineOff-in.off, 0))
	to := i
	for to < in.end && to < i+excerptBytes && in.buf[to] != '\n' && in.buf[to] != '\r' {
		to++
	}
	for from < i && !utf8.RuneStart(in.buf[from]) {
		from++ // the buffer may begin inside a character
	}
	from = max(from, i-2*excerptBytes)
	return makeExcerpt(in.buf[from:i], in.buf[i:to])
}

// skip passes over white space and comments and returns the byte it stops at,
// or false at the end of the input.
func (in *input) skip() (byte, bool) {
	for {
		switch c := in.buf[in.pos]; {
		case c == ' ' || c == '\t':
			in.pos++
		case c == '\n' || c == '\r':
			in.advance(in.pos + 1)
		case c == '#':
			if !in.comment() {
				return '#', true
			}
		case c == 0 && in.pos == in.end:
			if _, ok := in.more(in.pos); !ok {
				return 0, false
			}
		default:
			return c, true
		}
	}
}

// skipBlanks passes over spaces and tabs only, as N-Triples has it.
func (in *input) skipBlanks() (byte, bool) {
	for {
		switch c := in.buf[in.pos]; {
		case c == ' ' || c == '\t':
			in.pos++
		case c == 0 && in.pos == in.end:
			if _, ok := in.more(in.pos); !ok {
				return 0, false
			}
		default:
			return c, true
		}
	}
}

// comment passes over a comment up to its line end. It returns false, with
// pos at the fault, if the comment is not UTF-8.
func (in *input) comment() bool {
	for {
		switch c := in.buf[in.pos]; {
		case c == '\n' || c == '\r':
			return true
		case c == 0 && in.pos == in.end:
			if _, ok := in.more(in.pos); !ok {
				return true
			}
		case c < 0x80:
			in.pos++
		default:
			_, n, _ := in.rune(in.pos)
			if n == 0 {
				in.broken = true
				return false
			}
			in.pos += n
			in.extra += int64(n - 1)
		}
	}
}
