package main

import (
	"strings"
	"testing"
)

func TestGenerateRefusesAPoorVocabulary(t *testing.T) {
	const head = "@prefix bn: <" + base + "> . @prefix owl: <" + owl + "> . @prefix rdfs: <" + rdfs + "> .\n"
	for name, text := range map[string]string{
		"nothing":    head,
		"syntax":     head + "bn:a a",
		"no comment": head + "bn:A a owl:Class .",
		"no type":    head + `bn:a rdfs:comment "x" .`,
	} {
		if code, err := generate(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error, but\n%s", name, code)
		}
	}
	code, err := generate(strings.NewReader(head + `bn:A a owl:Class ; rdfs:comment "An a." . bn:b a owl:ObjectProperty ; rdfs:comment "A b." . bn:C a bn:A ; rdfs:comment "A c." .`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`ClassA = IRI(Base + "A")`, `PropB = IRI(Base + "b")`, `IndC = IRI(Base + "C")`, "// ClassA is bn:A. An a."} {
		if !strings.Contains(string(code), want) {
			t.Errorf("the code lacks %s:\n%s", want, code)
		}
	}
}
