package sparql

import (
	"regexp"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// pattern is a compiled regular expression; re is nil if it is none.
type pattern struct{ re *regexp.Regexp }

// maxPattern bounds the text of a pattern, maxPatterns those that a run keeps.
const (
	maxPattern  = 4096
	maxPatterns = 256
)

// compiled returns the expression of a pattern and flags (XPath functions,
// section 5.6.1). Matching takes linear time, so that no pattern holds a query
// up; what that cannot do, back-references, is an error of the expression.
func (x *exec) compiled(text, flags string) (*regexp.Regexp, error) {
	key := flags + "/" + text
	p, ok := x.regexes[key]
	if !ok {
		p = &pattern{re: compileRegex(text, flags)}
		if len(x.regexes) >= maxPatterns {
			clear(x.regexes)
		}
		x.regexes[key] = p
	}
	if p.re == nil {
		return nil, errEval
	}
	return p.re, nil
}

func compileRegex(text, flags string) *regexp.Regexp {
	if len(text) > maxPattern || strings.Trim(flags, "smixq") != "" {
		return nil
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
	re, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return re
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
	re, err := x.compiled(a[1].Value, flags)
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
	re, err := x.compiled(a[1].Value, flags)
	if err != nil || re.MatchString("") {
		return ttl.Term{}, errEval
	}
	with, ok := template(a[2].Value, re.NumSubexp())
	if strings.Contains(flags, "q") {
		with, ok = strings.ReplaceAll(a[2].Value, "$", "$$"), true
	}
	if !ok || len(a[0].Value)*(1+len(with)) > maxText {
		return ttl.Term{}, errEval
	}
	return like(a[0], re.ReplaceAllString(a[0].Value, with)), nil
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
