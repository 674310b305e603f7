package sparql

import (
	"crypto/md5"  //nolint:gosec // MD5() and SHA1() are functions of SPARQL
	"crypto/rand" // of UUID()
	"crypto/sha1" //nolint:gosec // as above
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// isText reports a string literal: xsd:string, with a language tag or without.
func isText(t ttl.Term) bool { return t.Kind == ttl.Literal && t.Datatype == "" }

// like returns a literal with another text and the same language.
func like(t ttl.Term, text string) ttl.Term { t.Value = text; return t }

// compatible is the rule on the arguments of string functions (section
// 17.4.3.1.2).
func compatible(a, b ttl.Term) bool {
	return isText(a) && isText(b) && (b.Lang == "" || strings.EqualFold(a.Lang, b.Lang))
}

func mapText(f func(string) string) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		if !isText(a[0]) {
			return ttl.Term{}, errEval
		}
		return like(a[0], f(a[0].Value)), nil
	}
}

func testText(f func(s, part string) bool) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		if !compatible(a[0], a[1]) {
			return ttl.Term{}, errEval
		}
		return boolTerm(f(a[0].Value, a[1].Value)), nil
	}
}

func fnStrLen(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !isText(a[0]) {
		return ttl.Term{}, errEval
	}
	return intNumber(int64(utf8.RuneCountInString(a[0].Value))).term(), nil
}

// fnSubstr counts characters from 1; what lies outside of the text is left out,
// as fn:substring says.
func fnSubstr(_ *exec, a []ttl.Term) (ttl.Term, error) {
	start, ok := numberOf(a[1])
	if !isText(a[0]) || !ok || start.isNaN() {
		return ttl.Term{}, errEval
	}
	chars := []rune(a[0].Value)
	from := rounded("ROUND", start).float()
	to := float64(len(chars)) + 1
	if len(a) > 2 {
		n, ok := numberOf(a[2])
		if !ok || n.isNaN() {
			return ttl.Term{}, errEval
		}
		to = min(to, from+rounded("ROUND", n).float())
	}
	from = max(from, 1)
	if !(from < to) {
		return like(a[0], ""), nil
	}
	return like(a[0], string(chars[int(from)-1:int(to)-1])), nil
}

func fnStrBefore(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !compatible(a[0], a[1]) {
		return ttl.Term{}, errEval
	}
	before, _, ok := strings.Cut(a[0].Value, a[1].Value)
	if !ok {
		return ttl.NewString(""), nil
	}
	return like(a[0], before), nil
}

func fnStrAfter(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !compatible(a[0], a[1]) {
		return ttl.Term{}, errEval
	}
	_, after, ok := strings.Cut(a[0].Value, a[1].Value)
	if !ok {
		return ttl.NewString(""), nil
	}
	return like(a[0], after), nil
}

// fnEncode escapes all but the unreserved characters of RFC 3986.
func fnEncode(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !isText(a[0]) {
		return ttl.Term{}, errEval
	}
	var b strings.Builder
	for _, c := range []byte(a[0].Value) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return ttl.NewString(b.String()), nil
}

// maxText bounds the texts that functions make.
const maxText = 16 << 20

func errText() error {
	return errs.New(errs.TooLarge, "a function of the query makes a text of more than the limit of %d bytes", maxText)
}

func fnConcat(_ *exec, a []ttl.Term) (ttl.Term, error) {
	var b strings.Builder
	lang := ""
	for i, t := range a {
		if !isText(t) {
			return ttl.Term{}, errEval
		}
		if b.Len()+len(t.Value) > maxText {
			return ttl.Term{}, errText()
		}
		if i == 0 {
			lang = t.Lang
		} else if !strings.EqualFold(lang, t.Lang) {
			lang = ""
		}
		b.WriteString(t.Value)
	}
	return ttl.Term{Kind: ttl.Literal, Value: b.String(), Lang: lang}, nil
}

// fnLangMatches is basic filtering of RFC 4647.
func fnLangMatches(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if !isPlain(a[0]) || !isPlain(a[1]) {
		return ttl.Term{}, errEval
	}
	tag, want := strings.ToLower(a[0].Value), strings.ToLower(a[1].Value)
	return boolTerm(tag != "" && (want == "*" || tag == want || strings.HasPrefix(tag, want+"-"))), nil
}

func digest(name string) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		if !isPlain(a[0]) {
			return ttl.Term{}, errEval
		}
		text := []byte(a[0].Value)
		var sum []byte
		switch name {
		case "MD5":
			s := md5.Sum(text) //nolint:gosec // asked for
			sum = s[:]
		case "SHA1":
			s := sha1.Sum(text) //nolint:gosec // asked for
			sum = s[:]
		case "SHA256":
			s := sha256.Sum256(text)
			sum = s[:]
		case "SHA384":
			s := sha512.Sum384(text)
			sum = s[:]
		default:
			s := sha512.Sum512(text)
			sum = s[:]
		}
		return ttl.NewString(hex.EncodeToString(sum)), nil
	}
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func fnUUID(*exec, []ttl.Term) (ttl.Term, error) { return ttl.NewIRI("urn:uuid:" + newUUID()), nil }

func fnStrUUID(*exec, []ttl.Term) (ttl.Term, error) { return ttl.NewString(newUUID()), nil }
