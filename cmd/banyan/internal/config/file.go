package config

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// MaxFile bounds the configuration file, in bytes.
const MaxFile = 64 << 10

// entry is one setting of a file.
type entry struct {
	value string
	line  int
}

// parseFile reads lines of "key: value" or "key = value", with '#' comments:
// the part of YAML that a flat list of settings needs, and nothing more. What
// is not understood is an error that names the line.
func parseFile(name string, data []byte) (map[Key]entry, error) {
	out := map[Key]entry{}
	var faults []errs.Part
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, MaxFile+1)
	for n := 1; scan.Scan(); n++ {
		key, value, err := parseLine(strings.TrimSuffix(scan.Text(), "\r"))
		if err == nil && key != "" {
			err = addEntry(out, key, entry{value, n})
		}
		if err != nil && len(faults) < 20 {
			faults = append(faults, errs.Part{Pointer: fmt.Sprintf("%s:%d", name, n), Detail: err.Error()})
		}
	}
	if err := scan.Err(); err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the configuration file %s has a line that is too long", name)
	}
	if len(faults) > 0 {
		return nil, errs.New(errs.Invalid, "the configuration file cannot be used").WithParts(faults...)
	}
	return out, nil
}

func addEntry(out map[Key]entry, name string, e entry) error {
	i := slices.IndexFunc(specs, func(s spec) bool { return string(s.key) == name })
	if i < 0 {
		return fmt.Errorf("there is no setting %q; known: %s", name, strings.Join(keyNames(), ", "))
	}
	if old, ok := out[specs[i].key]; ok {
		return fmt.Errorf("%s was already set on line %d", name, old.line)
	}
	if err := specs[i].check(e.value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out[specs[i].key] = e
	return nil
}

// parseLine returns the key and value of one line, "" for a line without any.
func parseLine(line string) (key, value string, err error) {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || trimmed == "---" || strings.HasPrefix(trimmed, "#") {
		return "", "", nil
	}
	if line[0] == ' ' || line[0] == '\t' {
		return "", "", fmt.Errorf("the line is indented; settings are not nested")
	}
	i := strings.IndexAny(trimmed, ":=")
	if i <= 0 {
		return "", "", fmt.Errorf("%q is not of the form key: value", trimmed)
	}
	value, err = parseValue(strings.TrimSpace(trimmed[i+1:]))
	return strings.TrimSpace(trimmed[:i]), value, err
}

// parseValue reads a plain value up to a comment, or a quoted one, in which a
// backslash stands for itself: a Windows path or a regular expression is then
// never misread, and a value never needs escapes.
func parseValue(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		if i := strings.Index(s, " #"); i >= 0 {
			s = strings.TrimSpace(s[:i])
		}
		if strings.HasPrefix(s, "#") {
			return "", nil
		}
		if s != "" && strings.ContainsRune("[]{}|>&*!%@`", rune(s[0])) {
			return "", fmt.Errorf("the value %q begins with a sign that YAML reserves; put it in quotes", s)
		}
		return s, nil
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 {
		return "", fmt.Errorf("the quoted value does not end")
	}
	if rest := strings.TrimSpace(s[end+2:]); rest != "" && rest[0] != '#' {
		return "", fmt.Errorf("there is text behind the quoted value: %q", rest)
	}
	return s[1 : end+1], nil
}

func keyNames() []string {
	names := make([]string, 0, len(specs))
	for _, s := range specs {
		names = append(names, string(s.key))
	}
	return names
}
