package local

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-ff860830/banyan/rungs/internal/owner"
)

// prefix is what the names of this rung's directories begin with.
const prefix = "banyan-local"

// makeBase makes the directory that holds this process's work directories, and
// removes those of processes that have ended.
func makeBase(cfg Config) (string, error) {
	me, err := owner.Self(cfg.CgroupRoot)
	if err != nil {
		return "", err
	}
	sweep(cfg, me)
	base := filepath.Join(cfg.Dir, me.Name(prefix))
	return base, os.Mkdir(base, 0o700)
}

// sweep removes directories of exactly our form that are this user's and whose
// owner is gone. In a directory that everybody may write to, anybody can make
// one of that form; one of another user is none of ours.
func sweep(cfg Config, me owner.Owner) {
	entries, err := os.ReadDir(cfg.Dir)
	if err != nil {
		return // making the base will say what is wrong
	}
	for _, e := range entries {
		o, ours := owner.Parse(prefix, e.Name())
		if !ours || !o.Gone(cfg.CgroupRoot, me) {
			continue
		}
		dir := filepath.Join(cfg.Dir, e.Name())
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			continue
		}
		err = removeAll(dir)
		cfg.Logger.Info("swept work directories of a daemon that is gone", "dir", e.Name(), "err", err)
	}
}

// workdir is one job's directories.
type workdir struct {
	root string // removed as a whole
	work string // the current directory
	tmp  string // TMPDIR and HOME
}

// newWorkdir makes a job's directories; it leaves nothing if it fails.
func newWorkdir(base string) (workdir, error) {
	root, err := os.MkdirTemp(base, "job-")
	if err != nil {
		return workdir{}, fmt.Errorf("make work directory: %w", err)
	}
	w := workdir{root, filepath.Join(root, "work"), filepath.Join(root, "tmp")}
	for _, dir := range []string{w.work, w.tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			_ = os.RemoveAll(root)
			return workdir{}, fmt.Errorf("make work directory: %w", err)
		}
	}
	return w, nil
}

// removeAll removes a tree in which a job may have taken rights from itself.
// Nothing outside can be reached: RemoveAll and WalkDir follow no links.
func removeAll(root string) error {
	if err := os.RemoveAll(root); err == nil {
		return nil
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			// WalkDir calls with an error a second time if the directory
			// cannot be read; the first call has made it readable.
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(root)
}
