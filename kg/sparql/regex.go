package sparql

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ttl"
)

// pattern is a compiled regular expression; re is nil if it is none.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions of its program
}

// maxPattern bounds the text of a pattern, maxProgram the instructions that it
// is compiled to, maxPatterns the patterns that a run keeps. maxMatching
// bounds the bytes of a text times the instructions: what one match may take.
const (
	maxPattern  = 4096
	maxProgram  = 10_000
	maxPatterns = 64
	maxMatching = 1 << 25
)

// compiled returns the expression of a pattern and flags (XPath functions,
// section 5.6.1) for a text. Matching takes time in proportion to the text and
// the pattern, so that no pattern holds a query up; what that cannot do,
// back-references, is an error of the expression.
func (x *exec) compiled(text, flags, in string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, errs.New(errs.TooLarge, "a regular expression has more than the limit of %d bytes", maxPattern)
	}
	key := flags + "/" + text
	p, ok := x.regexes[key]
	if !ok {
		p = compileRegex(text, flags)
		if err := x.spend(1 + p.size/16); err != nil {
			return nil, err
		}
		if len(x.regexes) >= maxPatterns {
			clear(x.regexes)
		}
		x.regexes[key] = p
	}
	switch {
	case p.size > maxProgram:
		return nil, errs.New(errs.TooLarge, "a regular expression is more complex than the limit of %d instructions", maxProgram)
	case p.re == nil:
		return nil, errEval
	case len(in)*p.size > maxMatching:
		return nil, errs.New(errs.TooLarge, "a text of %d bytes is too long for its regular expression", len(in))
	}
	return p.re, x.spend(len(in) * p.size / 4096)
}

func compileRegex(text, flags string) *pattern {
	if strings.Trim(flags, "smixq") != "" {
		return &pattern{}
	}
	if strings.Contains(flags, "q") {
		text = regexp.QuoteMeta(text)
	} else if strings.Contains(flags, "x") {
		text = withoutSpace(text)
	}
	mode := ""
	for _, f := range "smi" {
		if strings.ContainsRune(flags, f) {
			mode += string(f)
		}
	}
	if mode != "" {
		text = "(?" + mode + ")" + text
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return &pattern{}
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return &pattern{}
	}
	p := &pattern{size: len(prog.Inst)}
	if p.size <= maxProgram {
		p.re, err = regexp.Compile(text)
	}
	if err != nil {
		return &pattern{}
	}
	return p
}

// withoutSpace takes white space out of a pattern, but for that in a character
// class.
func withoutSpace(s string) string {
	var b strings.Builder
	in, escaped := 0, false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '[':
			in++
		case r == ']':
			in--
		case in == 0 && strings.ContainsRune(" \t\n\r", r):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func flagsOf(a []ttl.Term, i int) (string, error) {
	if len(a) <= i {
		return "", nil
	}
	if !isPlain(a[i]) {
		return "", errEval
	}
	return a[i].Value, nil
}

func fnRegex(x *exec, a []ttl.Term) (ttl.Term, error) {
	flags, err := flagsOf(a, 2)
	if err != nil || !isText(a[0]) || !isPlain(a[1]) {
		return ttl.Term{}, errEval
	}
	re, err := x.compiled(a[1].Value, flags, a[0].Value)
	if err != nil {
		return ttl.Term{}, err
	}
	return boolTerm(re.MatchString(a[0].Value)), nil
}

// fnReplace is fn:replace; a pattern that matches the empty text is an error.
func fnReplace(x *exec, a []ttl.Term) (ttl.Term, error) {
	flags, err := flagsOf(a, 3)
	if err != nil || !isText(a[0]) || !isPlain(a[1]) || !isPlain(a[2]) {
		return ttl.Term{}, errEval
	}
	re, err := x.compiled(a[1].Value, flags, a[0].Value)
	if err != nil {
		return ttl.Term{}, err
	}
	if re.MatchString("") {
		return ttl.Term{}, errEval
	}
	with, ok := template(a[2].Value, re.NumSubexp())
	if strings.Contains(flags, "q") {
		with, ok = strings.ReplaceAll(a[2].Value, "$", "$$"), true
	}
	if !ok {
		return ttl.Term{}, errEval
	}
	// Each match may become as much as the template's text and, for each group
	// in it, the match itself.
	if len(a[0].Value)*(1+len(with)) > maxText && !x.fits(re, a[0].Value, with) {
		return ttl.Term{}, errText()
	}
	return like(a[0], re.ReplaceAllString(a[0].Value, with)), nil
}

// fits reports whether replacing all matches makes a text within the bound, by
// their real number.
func (x *exec) fits(re *regexp.Regexp, text, with string) bool {
	left := maxText - len(text)*(1+strings.Count(with, "${"))
	re.ReplaceAllStringFunc(text, func(string) string {
		left -= len(with)
		return ""
	})
	return left >= 0
}

// template turns fn:replace's $1, \$ and \\ into the regexp package's ${1} and
// $$. A group that the pattern does not have is empty.
func template(s string, groups int) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
			if i >= len(s) || s[i] != '\\' && s[i] != '$' {
				return "", false
			}
			b.WriteString(strings.ReplaceAll(s[i:i+1], "$", "$$"))
		case s[i] == '$':
			n, used := groupNumber(s[i+1:], groups)
			if used == 0 {
				return "", false
			}
			b.WriteString("${" + n + "}")
			i += used
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// groupNumber reads the digits of a group: as many as still name one.
func groupNumber(s string, groups int) (n string, used int) {
	v := 0
	for used < len(s) && s[used] >= '0' && s[used] <= '9' && used < 3 {
		next := v*10 + int(s[used]-'0')
		if used > 0 && next > groups {
			break
		}
		v = next
		used++
	}
	return s[:used], used
}
