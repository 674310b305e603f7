package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/internal/errs"
)

// writeWhole writes a file that is there wholly or not at all: fill writes it
// under another name in the same folder, and only when all of it is on the disk
// does it take its name. A file that is there stays unless force is set.
func writeWhole(path string, force bool, fill func(io.Writer) error) (err error) {
	path, err = writable(path, force)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.part") // only its owner may read it
	if err != nil {
		return cannotWrite(path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()           // what it says is of no use any more
			_ = os.Remove(f.Name()) // nor is what is left of it
		}
	}()
	w := &watched{w: f}
	switch err := fill(w); {
	case w.err != nil:
		return cannotWrite(path, w.err) // whatever fill made of it
	case err != nil:
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if err := takeName(f.Name(), path, force); err != nil {
		return err
	}
	return syncFolder(dir)
}

// writable returns where to write, behind a link, or says why not.
func writable(path string, force bool) (string, error) {
	st, err := os.Lstat(path)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", cannotWrite(path, err)
		}
		st, err = os.Lstat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", cannotWrite(path, err)
	case !st.Mode().IsRegular():
		return "", errs.New(errs.Invalid, "%s is not a regular file", path)
	case !force:
		return "", inTheWay(path)
	}
	return path, nil
}

// takeName renames a file. Without force, another that came to be there in the
// meantime stays: a link, unlike a rename, replaces nothing.
func takeName(from, to string, force bool) error {
	if !force {
		err := os.Link(from, to)
		if errors.Is(err, fs.ErrExist) {
			return inTheWay(to)
		}
		if err == nil {
			// Under its first name it is only clutter.
			_ = os.Remove(from)
			return nil
		}
		// A file system without links: the moment's race is what is left.
	}
	if err := os.Rename(from, to); err != nil {
		return cannotWrite(to, err)
	}
	return nil
}

// syncFolder brings a new name onto the disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return cannotWrite(dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return cannotWrite(dir, err)
	}
	return nil
}

func inTheWay(path string) error {
	return errs.New(errs.Conflict, "%s is there already", path).WithHint("banyan backup --force %s", shellQuote(path))
}

func cannotWrite(path string, err error) error {
	return errs.Wrap(errs.Unavailable, err, "%s cannot be written: %v", path, config.Cause(err))
}

// watched remembers the error of its writer.
type watched struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}
