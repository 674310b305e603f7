// Package agent holds the Python agent of warm parents and the host's side of
// its protocol: frames, messages, and what a job reports, checked.
//
// PROTOCOL.md in this folder is the contract. Everything that is read from an
// agent or a job is untrusted here: sizes are bounded before they are
// allocated, names are checked again, and nothing that a job says decides how
// it ended.
package agent

import _ "embed" // the agent's source

// Source is the Python agent, one file for Python 3.8 and later.
//
//go:embed agent.py
var Source []byte

// The agent's modes, its one argument.
const (
	ModeAgent = "--agent" // sit in a warm parent
	ModeCold  = "--cold"  // run one job and end
)

// The descriptors that a started agent expects.
const (
	ControlFD = 3 // its end of the control socket pair
	SourceFD  = 4 // by convention: the source, as "/dev/fd/4"
)

// SourcePath is the path to give to Python for a source on SourceFD.
const SourcePath = "/dev/fd/4"
