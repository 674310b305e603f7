// Package artifacts writes the files that a job left behind below one folder
// of the user's.
//
// The names come from the job, or from a daemon that was lied to, so they are
// checked here again, whoever checked them before: nothing is written outside
// the folder, through a link, or over anything but a regular file.
package artifacts

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/oklog/ulid/v2"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds of a name: elements, and bytes of one element (NAME_MAX on
// Linux, less the room for the suffix of a file that is being written).
const (
	maxDepth   = 32
	maxElement = 200
)

// File is one file to write. Path is relative and slash-separated.
type File struct {
	Path string
	Data []byte
}

// Write writes files below dir, which is made if it is missing. All names are
// checked before anything is written. Each file appears whole or not at all;
// one that was there is replaced.
func Write(dir string, files []File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if err := Check(f.Path); err != nil {
			return err
		}
		if seen[f.Path] {
			return errs.New(errs.Invalid, "the artifact %q is there twice", f.Path)
		}
		seen[f.Path] = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failed(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return failed(dir, err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	for _, f := range files {
		if err := write(root, f); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses a name that is not a plain relative path.
func Check(name string) error {
	bad := func(why string) error {
		return errs.New(errs.Denied, "the artifact's name %.300q %s; nothing was written", name, why)
	}
	switch {
	case !fs.ValidPath(name) || name == ".":
		return bad("is not a relative path without . and ..")
	case strings.ContainsAny(name, "\\:"):
		return bad("contains a backslash or colon")
	case strings.ContainsFunc(name, unicode.IsControl):
		return bad("contains a control character")
	case strings.Count(name, "/") >= maxDepth:
		return bad("is nested too deep")
	}
	for elem := range strings.SplitSeq(name, "/") {
		if len(elem) > maxElement {
			return bad("is too long")
		}
	}
	return nil
}

// write writes one file. os.Root keeps every step below the folder, also if
// somebody changes it meanwhile.
func write(root *os.Root, f File) (err error) {
	dir, err := enter(root, path.Dir(f.Path))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	base := path.Base(f.Path)
	st, err := dir.Lstat(base)
	switch {
	case err == nil && !st.Mode().IsRegular():
		return errs.New(errs.Denied, "the artifact %q was not written: something that is no regular file stands in its place", f.Path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failed(f.Path, err)
	}
	// A new file takes the place of the old one by its name, so that a link
	// that is put there meanwhile is replaced and never followed.
	temp := base + "." + ulid.Make().String() + ".part"
	if err := create(dir, temp, f.Data); err != nil {
		return failed(f.Path, err)
	}
	if err := dir.Rename(temp, base); err != nil {
		_ = dir.Remove(temp) // the first error counts
		return failed(f.Path, err)
	}
	return nil
}

// create writes a file that is not there yet; nothing is left if that fails.
func create(dir *os.Root, name string, data []byte) error {
	out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = dir.Remove(name) // the first error counts
	}
	return err
}

// enter opens a folder below root, element by element, making what is missing.
// A link on the way is refused, even one that stays inside.
func enter(root *os.Root, name string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, failed(name, err)
	}
	if name == "." {
		return at, nil
	}
	for elem := range strings.SplitSeq(name, "/") {
		next, err := step(at, elem)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// step opens one folder, making it if it is missing.
func step(at *os.Root, elem string) (*os.Root, error) {
	if err := at.Mkdir(elem, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, failed(elem, err)
	}
	st, err := at.Lstat(elem)
	if err != nil {
		return nil, failed(elem, err)
	}
	if !st.IsDir() {
		return nil, errs.New(errs.Denied, "the artifact's folder %q is a link or no folder; the artifact was not written", elem)
	}
	next, err := at.OpenRoot(elem)
	if err != nil {
		return nil, failed(elem, err)
	}
	return next, nil
}

// failed classifies an error of the file system.
func failed(name string, err error) error {
	why := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		why = pe.Err
	}
	return errs.Wrap(errs.Unavailable, err, "%q cannot be written: %v", name, why)
}
