package main

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/planner"
)

// jsonNames returns the names of all members below a type.
func jsonNames(t reflect.Type, into map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		jsonNames(t.Elem(), into)
	case reflect.Struct:
		if t.PkgPath() == "time" {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if name != "" {
				into[name] = true
			}
			jsonNames(f.Type, into)
		}
	}
}

func readDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/CLI_JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// section returns the part of the document under a heading that contains a
// text.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	for part := range strings.SplitSeq(doc, "\n## ") {
		if title, _, _ := strings.Cut(part, "\n"); strings.Contains(title, heading) {
			return part
		}
	}
	t.Fatalf("docs/CLI_JSON.md has no section %q", heading)
	return ""
}

// Every member that a command can print is described where the command is.
func TestEveryMemberIsDocumented(t *testing.T) {
	doc := readDoc(t)
	for heading, v := range map[string]any{
		"run --json": banyan.Result{}, "plan --json": planner.Plan{}, "show --json": banyan.Snapshot{},
		"lineage --json": struct {
			Snapshot    int `json:"snapshot"`
			Ancestors   int `json:"ancestors"`
			Descendants int `json:"descendants"`
		}{},
		"import --json": banyan.ImportReport{}, "update --json": banyan.UpdateReport{}, "restore --json": kg.RestoreReport{}, "backup --json": kg.BackupReport{}, "fsck --json": kg.FsckReport{}, "rungs --json": banyan.RungStatus{}, "doctor --json": banyan.Report{},
		"config --json": config.Value{},
	} {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(v), names)
		text := section(t, doc, heading)
		for name := range names {
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, `"`+name+`"`) {
				t.Errorf("section %q does not tell of the member %q", heading, name)
			}
		}
	}
	names := map[string]bool{}
	for i := range reflect.TypeFor[banyan.Status]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[banyan.Status]().Field(i).Tag.Get("json"), ",")
		names[name] = true
	}
	for name := range names {
		if !strings.Contains(section(t, doc, "status --json"), `"`+name+`"`) {
			t.Errorf("the status does not tell of %q", name)
		}
	}
}

// The examples are JSON, and have no members that do not exist.
func TestExamplesAreTrue(t *testing.T) {
	doc := readDoc(t)
	for heading, to := range map[string]any{
		"run --json": &banyan.Result{}, "plan --json": &planner.Plan{}, "show --json": &banyan.Snapshot{}, "import --json": &banyan.ImportReport{}, "update --json": &banyan.UpdateReport{},
		"fsck --json": &kg.FsckReport{}, "backup --json": &kg.BackupReport{}, "restore --json": &kg.RestoreReport{},
		"status --json": &banyan.Status{}, "rungs --json": &banyan.RungStatus{}, "doctor --json": &banyan.Report{},
	} {
		m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section(t, doc, heading))
		if m == nil {
			t.Errorf("section %q has no example", heading)
			continue
		}
		dec := json.NewDecoder(strings.NewReader(strings.ReplaceAll(m[1], "[RUNG, …]", "[]")))
		dec.DisallowUnknownFields()
		if err := dec.Decode(to); err != nil {
			t.Errorf("the example of %q: %v", heading, err)
		}
	}
}

// Every command with --json has a section, and every section is a command's.
func TestEveryCommandWithJSONIsDocumented(t *testing.T) {
	doc := readDoc(t)
	var walk func(path string, names []string)
	root := newRootCmd(newTestApp(t).app)
	walk = func(path string, names []string) {
		cmd, _, err := root.Find(names)
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Flags().Lookup("json") != nil && path != "snapshots" {
			section(t, doc, "`"+path+" --json`")
		}
		for _, sub := range cmd.Commands() {
			walk(strings.TrimSpace(path+" "+sub.Name()), append(names[:len(names):len(names)], sub.Name()))
		}
	}
	walk("", nil)
}
