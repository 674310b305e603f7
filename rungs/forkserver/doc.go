// Package forkserver is the rung of warm Python processes: a parent imports
// once, and every job is a copy-on-write fork of it behind walls of its own.
//
// # Who does what
//
// The Python side is the agent of package agent: it makes its narrow root at
// boot, loads, seals, forks, and puts each child behind its walls. The Go side
// starts agents, hands out uids and control groups, keeps time, and decides how
// each job ended from what the kernel says. A job's streams and its control
// socket go straight from the child to the host; nothing of a job passes
// through the parent.
//
//	Fork: uid, leaf, pipes, socket pair ──fork frame──▶ agent ──fork──▶ child
//	      ◀── forked, pidfd ──                                          walls
//	      ── files, job ──────────────────────────────────────────────▶
//	      ◀───────────────────────────────────────────── ready, started
//	                                                              user code
//	      ◀── exit: wait status, usage ── agent ◀──wait4──────────────── ✕
//
// The job goes to the child only after its pidfd has come, so there is never a
// child with user code that the host could not kill.
//
// # Spares
//
// A fork and its walls cost a millisecond or two, and a control group's first
// new member after a quiet spell waits 4 to 20 ms for the kernel. So each parent
// keeps a few children that have all of that behind them and wait for a job: a
// job that finds one only has its limits lowered, its random state drawn and
// its program read. A spare serves one job and is never used again; one is made
// up for when its job has ended or has run for a while. A job whose limit on
// files differs from the default's cannot have one, since the size of a file
// system is set when it is mounted.
//
// # Walls
//
// Before the first line of user code a child has: its own PID, mount, IPC and
// UTS namespaces; an empty network namespace that no other living child is in;
// a read-only root that shows
// the system's libraries, the interpreter, and nothing of anybody's data; one
// private tmpfs with a size limit behind /tmp, /dev/shm and its work directory;
// a uid that no other living child has; no capabilities; no_new_privs; a
// seccomp filter; no descriptor but 0, 1, 2 and the bridge (3); resource
// limits; and a control group leaf. A wall that cannot be put up fails the
// fork.
//
// Set-up code and the modules of a spec run in the parent, which is root in a
// narrow root and has the few capabilities that putting up walls takes: they
// are the operator's, like the interpreter itself. Jobs are anybody's.
//
// A job is PID 1 of its namespace. Its end ends all that it started. From inside,
// signals that it sends to itself and has no handler for are ignored, and
// abort() ends it with SIGSEGV.
//
// # Death
//
// An agent ends with its control socket; the thread that starts agents gives
// them a parent-death signal as well. Jobs end with their agent by the same
// signal, and are killed by their pidfd. A branch is a child of its trunk but
// has a socket of its own: a closed trunk stays, without socket or jobs, to
// reap its branches, and a branch survives a trunk that was killed.
package forkserver
