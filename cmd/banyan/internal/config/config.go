package config

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// Value is one setting with its origin.
type Value struct {
	Key    Key    `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // "flag --data", "environment BANYAN_DATA", "file PATH:LINE", "default"
}

// Set is the value of every setting. It does not change once it is made.
type Set struct {
	values  []Value
	chosen  map[Key]bool // not the default
	indexOf map[Key]int
}

// Source is where settings are looked for.
type Source struct {
	// Flags are the flags that were given, by key.
	Flags map[Key]string
	// Env looks up an environment variable; an empty one counts as unset.
	Env func(string) string
	// File is the configuration file the user named with a flag; "" takes
	// BANYAN_CONFIG, and else the usual place, where it need not exist.
	File string
	// Root says that the user is the superuser, whose places are the system's.
	Root bool
}

// Load resolves every setting. A value that cannot be is an *errs.Error that
// names its origin.
func Load(src Source) (*Set, error) {
	file, path, err := readFile(src)
	if err != nil {
		return nil, err
	}
	set := &Set{chosen: map[Key]bool{}, indexOf: map[Key]int{}}
	for i, s := range specs {
		v := Value{Key: s.key, Value: s.def, Origin: "default"}
		if s.key == Data {
			v.Value = defaultData(src)
		}
		if e, ok := file[s.key]; ok {
			v.Value, v.Origin = e.value, "file "+path+":"+strconv.Itoa(e.line)
		}
		if e := src.Env(s.key.Env()); e != "" {
			v.Value, v.Origin = e, "environment "+s.key.Env()
		}
		if f, ok := src.Flags[s.key]; ok {
			v.Value, v.Origin = f, "flag --"+s.key.Flag()
		}
		// An empty url is the default, "look for one", and no fault.
		if v.Value != "" {
			if err := s.check(v.Value); err != nil {
				return nil, errs.New(errs.Invalid, "%s (from %s): %v", s.key, v.Origin, err)
			}
		}
		set.chosen[s.key] = v.Origin != "default"
		set.indexOf[s.key] = i
		set.values = append(set.values, v)
	}
	return set, nil
}

// readFile returns the file's settings and its path; none if there is no file
// in the usual place. A file that was named has to exist.
func readFile(src Source) (map[Key]entry, string, error) {
	path, named := src.File, true
	if path == "" {
		path = src.Env("BANYAN_CONFIG")
	}
	if path == "" {
		path, named = defaultFile(src), false
	}
	if path == "" {
		return nil, "", nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", errs.Wrap(errs.Invalid, err, "the configuration file %s cannot be opened: %v", path, Cause(err))
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, "", errs.New(errs.Invalid, "the configuration file %s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, "", errs.Wrap(errs.Invalid, err, "the configuration file %s cannot be read: %v", path, Cause(err))
	}
	if len(data) > MaxFile {
		return nil, "", errs.New(errs.TooLarge, "the configuration file %s is larger than %s", path, units.FormatSize(MaxFile))
	}
	entries, err := parseFile(path, data)
	return entries, path, err
}

// defaultFile is where the file is looked for when nobody named one.
func defaultFile(src Source) string {
	if dir := absolute(src.Env("XDG_CONFIG_HOME")); dir != "" {
		return filepath.Join(dir, "banyan", "config.yaml")
	}
	if src.Root {
		return "/etc/banyan/config.yaml"
	}
	if home := absolute(src.Env("HOME")); home != "" {
		return filepath.Join(home, ".config", "banyan", "config.yaml")
	}
	return ""
}

// defaultData is the data folder when nobody named one; "" if there is no
// home to put it in.
func defaultData(src Source) string {
	if dir := absolute(src.Env("XDG_DATA_HOME")); dir != "" {
		return filepath.Join(dir, "banyan")
	}
	if src.Root {
		return "/var/lib/banyan"
	}
	if home := absolute(src.Env("HOME")); home != "" {
		return filepath.Join(home, ".local", "share", "banyan")
	}
	return ""
}

// absolute drops a relative path, as the XDG base directory specification
// (0.8, "Basics") demands.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// Values returns every setting in the order in which they are documented.
func (s *Set) Values() []Value { return append([]Value(nil), s.values...) }

// Without returns a copy in which some keys have no value, whoever set them.
func (s *Set) Without(keys ...Key) *Set {
	c := &Set{values: s.Values(), chosen: maps.Clone(s.chosen), indexOf: s.indexOf}
	for _, k := range keys {
		c.values[c.indexOf[k]].Value = ""
		c.chosen[k] = false
	}
	return c
}

// Chosen reports whether somebody set the key, so that it is no default.
func (s *Set) Chosen(k Key) bool { return s.chosen[k] }

// String returns the key's value.
func (s *Set) String(k Key) string { return s.values[s.indexOf[k]].Value }

// Bool returns the value of a key that is true or false.
func (s *Set) Bool(k Key) bool { return s.String(k) == "true" }

// Int returns the value of a key that is a number; 0 if it is empty.
func (s *Set) Int(k Key) int {
	n, _ := strconv.Atoi(s.String(k)) // Load checked it
	return n
}

// Duration returns the value of a key that is a duration; 0 if it is empty.
func (s *Set) Duration(k Key) time.Duration {
	d, _ := time.ParseDuration(s.String(k)) // Load checked it
	return d
}

// Cause returns what lies under a path error, without the path that the
// sentence around it names already.
func Cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
