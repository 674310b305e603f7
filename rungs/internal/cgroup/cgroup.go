// Package cgroup gives each job a control group leaf of its own: limits that
// the kernel keeps, a counter that tells an out-of-memory kill from any other,
// and a list of processes that no fork, setsid or double fork escapes from.
//
// # Where the leaves are
//
// A Manager makes one base directory below the daemon's own group, in every
// hierarchy that it uses, and the leaves below that:
//
//	<own group>/banyan-<pid>-<start time>-<pid namespace>-<n>/<run id>
//
// The name alone says who owns it, so that a later daemon can sweep what a
// crashed one left without any other record (see Manager.Sweep).
//
// # Versions
//
// Controllers are looked for one by one, in version 1 and version 2, as
// /proc/self/cgroup and /proc/self/mountinfo have them; hosts mix the two. On a
// hybrid host the limits come from version 1 and the kill from a version 2
// leaf without controllers. What is in force is what a probe leaf showed to be
// so, not what was written. See cgroups(7) and the kernel's
// admin-guide/cgroup-v1 and cgroup-v2.
package cgroup

import (
	"slices"
	"time"
)

// Controller is the name of a kernel controller.
type Controller string

// The controllers that a Manager knows how to set.
const (
	Memory Controller = "memory"
	PIDs   Controller = "pids"
	CPU    Controller = "cpu"
)

// Config says what a Manager needs.
type Config struct {
	// Root stands in front of every path, /proc and /sys alike. It is empty but
	// in tests.
	Root string
	// Require are the controllers without which Open fails; nil is Memory and
	// PIDs.
	Require []Controller
	// Want are controllers that are used if they are there.
	Want []Controller
	// Degraded makes a missing required controller something that Report names
	// and no error.
	Degraded bool
}

func (c Config) required() []Controller {
	if c.Require == nil {
		return []Controller{Memory, PIDs}
	}
	return c.Require
}

func (c Config) all() []Controller {
	all := append(slices.Clone(c.required()), c.Want...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Limits are a leaf's limits; a zero field is no limit.
type Limits struct {
	MemoryBytes int64   // memory and swap together
	PIDs        int64   // processes and threads
	CPUs        float64 // cores' worth of time in each 100 ms
}

// Report says what the leaves of a Manager have in force, as observed:
// "cgroup-v1", "cgroup-v2", or "" for a controller that is not there.
type Report struct {
	Memory, PIDs, CPU string
	Kill              bool     // the kernel ends a leaf's processes in one step
	Missing           []string // each missing controller with the reason
}

// Usage is what a leaf's processes have used so far.
type Usage struct {
	PeakBytes int64         // most memory at any time; 0 if the kernel does not say
	CPU       time.Duration // of all its processes together
	HasCPU    bool          // whether CPU is known
	OOMKills  int64         // processes killed for want of memory
}
