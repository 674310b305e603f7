package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-ff860830/banyan/rungs/internal/owner"
)

// daemonGroup is the leaf that the daemon itself moves to on version 2, where
// a group with processes of its own cannot hand controllers to its children.
const daemonGroup = "daemon"

// outer undoes what a Manager of this process may have done before: it maps
// the daemon's own leaf back to the group that the bases lie in.
func outer(own string) string {
	base := path.Dir(own)
	if _, ours := owner.Parse(prefix, path.Base(base)); ours && path.Base(own) == daemonGroup {
		return path.Dir(base)
	}
	return own
}

// delegate hands one controller down from own to its children. It is one write
// for each controller, since one bad name fails a whole write.
//
// If own holds processes, the kernel refuses (EBUSY), unless own is the root
// group. Then this process moves into a leaf below base and it is tried again;
// that helps only if it was alone in its group.
func delegate(own, base string, c Controller) error {
	if has, err := lists(own+"/cgroup.controllers", c); err != nil || !has {
		return fmt.Errorf("the %s controller is not available in the daemon's control group", c)
	}
	if has, _ := lists(own+"/cgroup.subtree_control", c); has {
		return nil
	}
	err := write(own+"/cgroup.subtree_control", "+"+string(c))
	if errors.Is(err, unix.EBUSY) {
		if moved := moveSelf(base + "/" + daemonGroup); moved != nil {
			return fmt.Errorf("the daemon cannot leave its control group to hand on the %s controller", c)
		}
		err = write(own+"/cgroup.subtree_control", "+"+string(c))
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("the %s controller cannot be handed on: other processes share the daemon's control group", c)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return fmt.Errorf("the daemon may not hand on the %s controller: its control group is not delegated to it", c)
	default:
		return fmt.Errorf("the %s controller cannot be handed on: %w", c, err)
	}
}

// moveSelf moves this process, all its threads, into dir, which it makes.
func moveSelf(dir string) error {
	if err := mkdir(dir); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return write(dir+"/cgroup.procs", strconv.Itoa(os.Getpid()))
}

// lists reports whether a file of space-separated names has c.
func lists(file string, c Controller) (bool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	for name := range strings.FieldsSeq(string(b)) {
		if name == string(c) {
			return true, nil
		}
	}
	return false, nil
}
