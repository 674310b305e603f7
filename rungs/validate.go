package rungs

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/ontology"
)

// The bounds on jobs and specs as a whole.
const (
	MaxCodeBytes  = 4 << 20  // a job's program, a spec's set-up code
	MaxStdinBytes = 64 << 20 // a job's standard input
	MaxModules    = 256      // modules of one spec
)

// Validate returns an Invalid error that names everything in the job that no
// rung could run. A rung calls it before it starts anything; nothing in a job
// that passed can reach outside its work directory by name.
func (j Job) Validate() error {
	var f faults
	if !j.ID.Valid() {
		f.add("/id", -1, "", quote(string(j.ID))+" is not a run id")
	}
	checkCode(&f, "/code", "code", j.Code)
	if len(j.Stdin) > MaxStdinBytes {
		f.add("/stdin", -1, "", "standard input has "+itoa(int64(len(j.Stdin)))+" bytes; at most "+itoa(MaxStdinBytes)+" are allowed")
	}
	f.addErr("/args", CheckArgs(j.Args))
	f.addErr("/env", CheckEnv(j.Env))
	f.addErr("/files", CheckFiles(j.Files))
	f.addErr("/artifacts", CheckPatterns(j.Artifacts))
	f.addErr("/limits", j.Limits.Validate())
	var total int64
	for _, file := range j.Files {
		total += int64(len(file.Data))
	}
	if most := j.Limits.WithDefaults().FilesBytes; total > most {
		f.add("/files", -1, "", "the files have "+itoa(total)+" bytes together, more than the job's limit files_bytes of "+itoa(most))
	}
	return f.err("check job")
}

// Validate returns an Invalid error that names everything in the spec that no
// rung could boot.
func (s Spec) Validate() error {
	var f faults
	s.Runtime.check(&f)
	if len(s.Modules) > MaxModules {
		f.add("/need", -1, "", "the spec has "+itoa(int64(len(s.Modules)))+" modules; at most "+itoa(MaxModules)+" are allowed")
	} else {
		for i, m := range s.Modules {
			if _, err := ontology.NewCapability("", m.ImportName); err != nil || strings.Contains(m.ImportName, "@") {
				f.add("/need/", i, "", quote(m.ImportName)+" is not a module name")
			}
			if m.Version != "" {
				if _, err := ontology.NewCapability("", "x@"+m.Version); err != nil {
					f.add("/need/", i, "", quote(m.Version)+" is not a version")
				}
			}
		}
	}
	checkCode(&f, "/setup", "set-up code", s.Setup)
	f.addErr("/env", CheckEnv(s.Env))
	return f.err("check spec")
}

func (r Runtime) check(f *faults) {
	if !r.ID.Valid() {
		f.add("/runtime", -1, "", quote(string(r.ID))+" is not a runtime id")
	}
	if !ontology.RuntimeID(r.Language).Valid() {
		f.add("/runtime/language", -1, "", quote(r.Language)+" is not a language")
	}
	switch exe := r.Executable; {
	case exe == "" || len(exe) > MaxPathBytes || !utf8.ValidString(exe) || strings.ContainsFunc(exe, unicode.IsControl):
		f.add("/runtime/executable", -1, "", "runtime "+quote(string(r.ID))+" has no usable executable")
	case strings.Contains(exe, "/") && path.Clean(exe) != exe, strings.Contains(exe, "/") && exe[0] != '/':
		// A relative path would depend on where the daemon was started.
		f.add("/runtime/executable", -1, "", "executable "+quote(exe)+" is neither an absolute path nor a bare name")
	}
	f.addErr("/runtime/args", CheckArgs(r.Args))
}

func checkCode(f *faults, pointer, what, code string) {
	switch {
	case len(code) > MaxCodeBytes:
		f.add(pointer, -1, "", "the "+what+" has "+itoa(int64(len(code)))+" bytes; at most "+itoa(MaxCodeBytes)+" are allowed")
	case !utf8.ValidString(code):
		f.add(pointer, -1, "", "the "+what+" is not UTF-8")
	}
}
