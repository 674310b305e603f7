package forkserver

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The filter refuses what a job never needs and what has been a way out of
// sandboxes: making namespaces and mounts, looking into other processes, the
// kernel's newer and less tried machinery, and socket families that a network
// namespace does not hold in (vsock reaches the hypervisor). It is a list of
// what is refused and not of what is allowed, since native libraries use much;
// the walls do not depend on it. See seccomp(2) and the kernel's
// seccomp_filter.rst.

// refused are the system calls answered with EPERM on every architecture.
var refused = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, sysOpenTreeAttr,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// Jobs share the files of the root: watching them would show what others open.
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH,
	unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_SET_MEMPOLICY_HOME_NODE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_MEMFD_SECRET, unix.SYS_PERSONALITY, sysLSMSetSelfAttr,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
}

// Calls newer than the tables of x/sys; the numbers are the same everywhere.
const (
	sysLSMSetSelfAttr = 460 // Linux 6.8
	sysOpenTreeAttr   = 467 // Linux 6.15
)

// protocols are the socket families that a job may use, with the protocols of
// each; nil is any. A socket of another protocol would have the kernel load the
// module for it, whoever asks.
var protocols = []struct {
	family uint32
	ids    []uint32
}{
	{unix.AF_UNIX, nil},
	{unix.AF_INET, internet},
	{unix.AF_INET6, internet},
	{unix.AF_NETLINK, []uint32{unix.NETLINK_ROUTE}}, // the C library asks it for interfaces
}

var internet = []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6}

// newNamespaces are the clone(2) flags that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Offsets in struct seccomp_data; arguments are 64 bits, low half first.
const (
	dataNr   = 0
	dataArch = 4
	dataArg0 = 16
	dataArg1 = 24
	dataArg2 = 32
)

func answerErrno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// program assembles a filter. Every jump is over the next instruction only, so
// there are no offsets to get wrong.
type program []unix.SockFilter

func (p *program) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (p *program) answer(with uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with})
}

// when answers if the test (BPF_JEQ, BPF_JGE, BPF_JSET) holds for k.
func (p *program) when(test uint16, k, with uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jf: 1, K: k})
	p.answer(with)
}

// unless answers if what is loaded is not k.
func (p *program) unless(k, with uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: k})
	p.answer(with)
}

// only begins a part of n instructions for what is loaded being nr; the part
// decides finally.
func (p *program) only(nr uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: nr})
}

// seccompFilter returns the filter for jobs as struct sock_filter[], nil if
// there is none for this architecture.
func seccompFilter() []byte {
	if auditArch == 0 {
		return nil
	}
	var p program
	p.load(dataArch)
	p.unless(auditArch, unix.SECCOMP_RET_KILL_PROCESS) // numbers mean other calls there
	p.load(dataNr)
	if secondABI != 0 {
		p.when(unix.BPF_JGE, secondABI, answerErrno(unix.ENOSYS))
	}
	for _, list := range [][]uint32{refused, refusedHere} {
		for _, nr := range list {
			p.when(unix.BPF_JEQ, nr, answerErrno(unix.EPERM))
		}
	}
	// Its flags lie in memory, where a filter cannot look. The C library falls
	// back to clone.
	p.when(unix.BPF_JEQ, unix.SYS_CLONE3, answerErrno(unix.ENOSYS))
	p.part(unix.SYS_CLONE, func(q *program) {
		q.when(unix.BPF_JSET, newNamespaces, answerErrno(unix.EPERM))
		q.answer(unix.SECCOMP_RET_ALLOW)
	})
	// A job must not outlive its agent.
	p.part(unix.SYS_PRCTL, func(q *program) {
		q.when(unix.BPF_JEQ, unix.PR_SET_PDEATHSIG, answerErrno(unix.EPERM))
		q.answer(unix.SECCOMP_RET_ALLOW)
	})
	p.keepCoreLimit()
	for _, nr := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		p.part(nr, (*program).sockets)
	}
	p.answer(unix.SECCOMP_RET_ALLOW)
	return p.bytes()
}

// keepCoreLimit refuses to change the limit on core files: the agent has set
// it to the one value that keeps a core from being piped to the host.
func (p *program) keepCoreLimit() {
	p.part(unix.SYS_SETRLIMIT, func(q *program) {
		q.when(unix.BPF_JEQ, unix.RLIMIT_CORE, answerErrno(unix.EPERM))
		q.answer(unix.SECCOMP_RET_ALLOW)
	})
	p.part(unix.SYS_PRLIMIT64, func(q *program) {
		q.load(dataArg1)
		q.unless(unix.RLIMIT_CORE, unix.SECCOMP_RET_ALLOW)
		for _, half := range []uint32{dataArg2, dataArg2 + 4} { // a null pointer only asks
			q.load(half)
			q.unless(0, answerErrno(unix.EPERM))
		}
		q.answer(unix.SECCOMP_RET_ALLOW)
	})
}

// sockets decides on socket and socketpair by family and protocol.
func (p *program) sockets() {
	for _, allowed := range protocols {
		if allowed.ids == nil {
			p.when(unix.BPF_JEQ, allowed.family, unix.SECCOMP_RET_ALLOW)
			continue
		}
		var q program
		q.load(dataArg2)
		for _, id := range allowed.ids {
			q.when(unix.BPF_JEQ, id, unix.SECCOMP_RET_ALLOW)
		}
		q.answer(answerErrno(unix.EPROTONOSUPPORT))
		p.only(allowed.family, uint8(len(q)))
		*p = append(*p, q...)
	}
	p.answer(answerErrno(unix.EAFNOSUPPORT))
}

// part adds instructions that see the first argument of one system call.
func (p *program) part(nr uint32, build func(*program)) {
	var q program
	q.load(dataArg0)
	build(&q)
	p.only(nr, uint8(len(q)))
	*p = append(*p, q...)
}

func (p program) bytes() []byte {
	out := make([]byte, 0, 8*len(p))
	for _, f := range p {
		out = binary.LittleEndian.AppendUint16(out, f.Code)
		out = append(out, f.Jt, f.Jf)
		out = binary.LittleEndian.AppendUint32(out, f.K)
	}
	return out
}
