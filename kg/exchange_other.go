//go:build !linux

package kg

import "errors"

// exchange swaps two folders in one step; only Linux is known to.
func exchange(_, _ string) error { return errors.ErrUnsupported }
