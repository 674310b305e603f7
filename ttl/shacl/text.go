package shacl

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/ttl"
)

func length(name string, ok func(n, bound int) bool) component {
	word := strings.ToLower(name[:1]) + name[1:]
	return func(_ *loader, s *shape, values []ttl.Term) ([]constraint, error) {
		bound, err := number(s, word, values)
		return []constraint{each(name, "its length is not within bounds", func(_ *run, v value) bool {
			return v.term.Kind != ttl.Blank && ok(utf8.RuneCountInString(v.term.Value), bound)
		})}, err
	}
}

// pattern matches with Go's regular expressions, whose time is linear in the
// text. What XPath's have beyond them is refused.
func pattern(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	flags, bad := "", false
	if f := l.g.objects(s.node, sh("flags")); len(f) > 0 {
		flags, bad = f[0].Value, len(f) > 1 || f[0].Kind != ttl.Literal
	}
	var out []constraint
	for _, t := range values {
		if bad || t.Kind != ttl.Literal {
			return nil, malformed(s.node, "sh:pattern and sh:flags are strings")
		}
		re, err := compile(t.Value, flags)
		if err != nil {
			return nil, malformed(s.node, "its sh:pattern or sh:flags are not of the supported kind")
		}
		out = append(out, each("Pattern", "it does not match the pattern", func(_ *run, v value) bool {
			return v.term.Kind != ttl.Blank && re.MatchString(v.term.Value)
		}))
	}
	return out, nil
}

// compile makes a regular expression of XPath's one of Go's.
func compile(text, flags string) (*regexp.Regexp, error) {
	bad := errors.New("not supported")
	// "-[" takes one class from another in XPath and means something else here.
	if len(text) > maxPattern || strings.Trim(flags, "smixq") != "" || strings.Contains(text, "-[") && !strings.Contains(flags, "q") {
		return nil, bad
	}
	if strings.Contains(flags, "q") {
		text = regexp.QuoteMeta(text)
	} else if strings.Contains(flags, "x") {
		text = squeeze(text)
	}
	head := ""
	for _, f := range "smi" {
		if strings.ContainsRune(flags, f) {
			head += string(f)
		}
	}
	if head != "" {
		text = "(?" + head + ")" + text
	}
	return regexp.Compile(text)
}

// squeeze takes out white space that stands outside of character classes.
func squeeze(text string) string {
	var b strings.Builder
	class, escaped := false, false
	for _, r := range text {
		if !class && unicode.IsSpace(r) {
			continue
		}
		if !escaped {
			class = class && r != ']' || !class && r == '['
		}
		escaped = r == '\\' && !escaped
		b.WriteRune(r)
	}
	return b.String()
}

func languageIn(l *loader, s *shape, values []ttl.Term) ([]constraint, error) {
	t, err := one(s, "languageIn", values)
	if err != nil {
		return nil, err
	}
	ranges, ok := l.g.list(t)
	if !ok {
		return nil, malformed(s.node, "sh:languageIn is a list")
	}
	return []constraint{each("LanguageIn", "its language is not one of those allowed", func(_ *run, v value) bool {
		for _, x := range ranges {
			if inRange(v.term.Lang, x.Value) {
				return true
			}
		}
		return false
	})}, nil
}

// inRange is langMatches of SPARQL: the basic filtering of RFC 4647.
func inRange(tag, want string) bool {
	tag, want = strings.ToLower(tag), strings.ToLower(want)
	return tag != "" && (want == "*" || tag == want || strings.HasPrefix(tag, want+"-"))
}

func uniqueLang(l *loader, s *shape, _ []ttl.Term) ([]constraint, error) {
	on, err := l.flag(s.node, "uniqueLang")
	if err == nil {
		err = needsPath(s, "uniqueLang")
	}
	if err != nil || !on {
		return nil, err
	}
	return []constraint{{"UniqueLang", func(_ *run, e *eval, c constraint) {
		count := map[string]int{}
		for _, v := range e.values {
			if lang := strings.ToLower(v.term.Lang); lang != "" {
				if count[lang]++; count[lang] == 2 {
					e.fail(c, value{at: v.at}, "it has more than one value in one language")
				}
			}
		}
	}}}, nil
}
