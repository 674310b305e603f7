"""The Banyan agent: the process that sits in a warm parent.

Every process in the tree of parents runs the loop in this file: it loads
modules, is sealed, and from then on only forks copies of itself. A fork either
runs one job behind walls and ends, or becomes an agent of its own (a branch).
The protocol is in PROTOCOL.md beside this file.

Needs Python 3.8 and its standard library only. What the file imports is held
by every snapshot, so it imports little.

Two rules explain most of what looks odd here:

* A job must not see anything of the agent: descriptors, buffered text, exit
  handlers, frames in a traceback. Whatever the agent holds is dropped or
  replaced in the child before user code runs.
* A page that a child touches first is a page fault, two microseconds and four
  kilobytes. So everything a child needs for its walls (function pointers,
  argument structures, stream objects) is built once, in the parent.
"""

import ast
import atexit
import base64
import builtins
import errno
import fcntl
import gc
import importlib
import io
import json
import linecache
import os
import re
import resource
import select
import signal
import socket
import stat
import struct
import sys
import threading
import time
import traceback
import types

PROTOCOL = 1

CONTROL_FD = 3          # the control socket; in a job, the bridge descriptor
MAX_FRAME = 32 << 20    # a frame to the agent or to a job
MAX_FDS = 16            # descriptors with one frame
CHUNK = 256 << 10       # data in one file or artifact frame
MAX_TEXT = 64 << 10     # one text of a result: repr, message, traceback
MAX_RICH = 512 << 10    # one rich form of a result: HTML, PNG in base64
MAX_HOLDS = 4096        # modules named in one report
MAX_WALK = 20000        # directory entries looked at for artifacts
MAX_FREE_NETS = 64      # network namespaces kept for the next jobs
MAX_PATH = 1024         # bytes of an artifact's path
MAX_DEPTH = 16          # directory levels looked at for artifacts
MAX_SKIPPED = 64        # artifacts named as left behind

EXIT_FAILED = 70        # a wall could not be put up; no user code has run
EXIT_FLUSH = 120        # CPython's own: the last flush of stdout failed

HEADER = struct.Struct(">I")

# Objects that must live for ever: a stream that is collected closes its
# descriptor, and the number belongs to somebody else by then.
_KEEP = []


# --------------------------------------------------------------------------
# Frames
# --------------------------------------------------------------------------

class ProtocolError(Exception):
    """The other side broke the protocol."""


class Connection:
    """Frames over one stream socket, blocking."""

    def __init__(self, sock):
        self.sock = sock

    @classmethod
    def on(cls, fd):
        # Naming the family keeps Python from asking the kernel for it.
        return cls(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd))

    def receive(self):
        """Return (frame, descriptors), or (None, []) at the end."""
        # The header is read alone: the kernel hands descriptors out with the
        # first byte of the message they were sent with.
        head, ancillary, _, _ = self.sock.recvmsg(
            HEADER.size, socket.CMSG_SPACE(MAX_FDS * 4), socket.MSG_CMSG_CLOEXEC)
        fds = _descriptors(ancillary)
        if not head:
            return None, []
        head += self._exactly(HEADER.size - len(head))
        size, = HEADER.unpack(head)
        if not 0 < size <= MAX_FRAME:
            raise ProtocolError("frame of %d bytes" % size)
        frame = json.loads(self._exactly(size))
        if not isinstance(frame, dict):
            raise ProtocolError("frame is not an object")
        return frame, fds

    def _exactly(self, size):
        parts = []
        while size > 0:
            part = self.sock.recv(min(size, 1 << 20))
            if not part:
                raise EOFError("control socket closed inside a frame")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def send(self, frame, fds=()):
        body = json.dumps(frame, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        data = HEADER.pack(len(body)) + body
        sent = 0
        if fds:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))
            sent = self.sock.sendmsg([data], [rights], socket.MSG_NOSIGNAL)
        if sent < len(data):
            self.sock.sendall(data[sent:], socket.MSG_NOSIGNAL)


def _descriptors(ancillary):
    fds = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.extend(struct.unpack("%di" % (len(data) // 4), data[:len(data) // 4 * 4]))
    return fds


# --------------------------------------------------------------------------
# The kernel: calls that Python 3.8 does not have
# --------------------------------------------------------------------------

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP = 0x20000000, 0x40000000, 0x2000000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 38, 47
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x20080522
# What a sealed agent still needs to put a job behind its walls: CHOWN, KILL,
# SETGID, SETUID, SYS_ADMIN.
AGENT_CAPS = (1 << 0) | (1 << 5) | (1 << 6) | (1 << 7) | (1 << 21)
# These numbers are the same on every architecture.
SYS_PIDFD_OPEN, SYS_CLOSE_RANGE, SYS_MOUNT_SETATTR = 434, 436, 442
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_RESTRICT = 444, 446
LANDLOCK_SCOPES = 1 | 2  # abstract unix sockets, signals
LANDLOCK_SCOPE_ABI = 6   # first version that has them


class Kernel:
    """System calls through ctypes, every object of which is built once."""

    def __init__(self):
        import ctypes
        self.c = ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        text, number, long = ctypes.c_char_p, ctypes.c_int, ctypes.c_long
        self._mount = self._bind(libc.mount, text, text, text, ctypes.c_ulong, text)
        self._umount2 = self._bind(libc.umount2, text, number)
        self._unshare = self._bind(libc.unshare, number)
        self._setns = self._bind(libc.setns, number, number)
        self._sethostname = self._bind(libc.sethostname, text, ctypes.c_size_t)
        self._prctl = self._bind(libc.prctl, number, *[ctypes.c_ulong] * 4)
        self._capset = self._bind(libc.capset, ctypes.c_void_p, ctypes.c_void_p)
        self._capget = self._bind(libc.capget, ctypes.c_void_p, ctypes.c_void_p)
        self._syscall = libc.syscall
        self._syscall.restype = long
        self.fflush = libc.fflush
        self.fflush.argtypes = [ctypes.c_void_p]
        self._get_errno = ctypes.get_errno
        self.cap_header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
        self.cap_data = (ctypes.c_uint32 * 6)()
        self._cap_args = (ctypes.addressof(self.cap_header), ctypes.addressof(self.cap_data))

    def _bind(self, function, *argtypes):
        function.argtypes = argtypes
        function.restype = self.c.c_int
        return function

    def check(self, result, what):
        if result < 0:
            number = self._get_errno()
            raise OSError(number, os.strerror(number), what)
        return result

    def mount(self, source, target, kind, flags, data=None):
        self.check(self._mount(source, target, kind, flags, data), "mount")

    def unmount(self, target):
        self.check(self._umount2(target, MNT_DETACH), "umount")

    def unshare(self, flags):
        self.check(self._unshare(flags), "unshare")

    def setns(self, fd, kind):
        self.check(self._setns(fd, kind), "setns")

    def sethostname(self, name):
        self.check(self._sethostname(name, len(name)), "sethostname")

    def prctl(self, option, a=0, b=0, c=0, d=0):
        return self.check(self._prctl(option, a, b, c, d), "prctl")

    def syscall(self, number, *args):
        return self.check(self._syscall(number, *args), "syscall")

    def pidfd_open(self, pid):
        return self.syscall(SYS_PIDFD_OPEN, pid, 0)

    def close_from(self, first):
        """Close every descriptor from first up."""
        try:
            self.syscall(SYS_CLOSE_RANGE, self.c.c_uint(first), self.c.c_uint(0xFFFFFFFF), 0)
        except OSError as error:  # Linux before 5.9
            if error.errno != errno.ENOSYS:
                raise
            for name in os.listdir("/proc/self/fd"):
                if int(name) >= first:
                    try:
                        os.close(int(name))
                    except OSError:
                        pass  # the descriptor of the listing itself

    def capabilities(self):
        """Return the effective, permitted and inheritable sets, or-ed."""
        self.check(self._capget(*self._cap_args), "capget")
        low = self.cap_data[0] | self.cap_data[1] | self.cap_data[2]
        high = self.cap_data[3] | self.cap_data[4] | self.cap_data[5]
        return low | high << 32

    def keep_capabilities(self, mask):
        """Clear the bounding and ambient sets and keep mask of the rest.

        A bounding set matters at execve only, and the agent never calls that:
        it is emptied once here and every child inherits it empty.
        """
        self.prctl(PR_CAP_AMBIENT, 4)  # PR_CAP_AMBIENT_CLEAR_ALL
        for number in range(64):
            try:
                self.prctl(PR_CAPBSET_DROP, number)
            except OSError as error:
                if error.errno != errno.EINVAL:  # EINVAL: the kernel has no such capability
                    raise
                break
        self.check(self._capget(*self._cap_args), "capget")
        low, high = mask & 0xFFFFFFFF, mask >> 32
        data = self.cap_data
        data[0], data[1], data[2] = data[1] & low, data[1] & low, 0
        data[3], data[4], data[5] = data[4] & high, data[4] & high, 0
        self.check(self._capset(*self._cap_args), "capset")


# --------------------------------------------------------------------------
# The narrow root: what a job can see of the host's files
# --------------------------------------------------------------------------

# Never bound whole, whatever the interpreter's path says.
BROAD = frozenset(("/", "/home", "/root", "/etc", "/tmp", "/var", "/run", "/dev", "/proc",
                   "/sys", "/opt", "/srv", "/mnt", "/media", "/boot", "/job", "/box"))
# Public and needed: how to find libraries, what time it is, which BLAS to use.
ETC = ("ld.so.cache", "localtime", "alternatives")
DEVICES = ("null", "zero", "full", "random", "urandom")
# What everybody may read below /proc and what tells of the host or of other
# jobs: a job reads nothing there. The rest of /proc stays, since libraries ask
# it for processors and memory. (What is not in the list is root's anyway, and
# no job is root.)
MASKED = ("cmdline", "config.gz", "interrupts", "kallsyms", "key-users", "keys", "latency_stats",
          "modules", "sched_debug", "softirqs", "timer_list")
# Made up, so that nothing of the host's accounts is told.
ETC_TEXTS = {
    "passwd": "root:x:0:0:root:/:/bin/false\njob:x:65534:65534:job:/tmp:/bin/sh\n",
    "group": "root:x:0:\njob:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
NEW_ROOT = "/tmp"  # hidden in the agent's own mount namespace, nowhere else


class NarrowRoot:
    """Builds a small read-only root and moves the process into it.

    The sources of all binds are opened before anything is mounted, so that
    the new root's mount point may lie above them.
    """

    def __init__(self, kernel):
        self.kernel = kernel
        self.sources = {}   # path in the new root -> (O_PATH descriptor, is a folder)
        self.links = {}     # path in the new root -> where it points

    def collect(self):
        self._add("/usr")
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            path = "/" + name
            if os.path.islink(path):
                self.links[path] = os.readlink(path)
            elif os.path.isdir(path):
                self._add(path)
        for name in ETC:
            self._add("/etc/" + name)
        for name in DEVICES:
            self._add("/dev/" + name)
        paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
        paths += [p for p in sys.path if os.path.isdir(p)]
        for path in sorted(set(paths), key=len):
            for variant in (os.path.abspath(path), os.path.realpath(path)):
                if not self._covered(variant):
                    self._add(variant)

    def _covered(self, path):
        if path in BROAD or os.path.normpath(path) in BROAD:
            return True
        return any(path == p or path.startswith(p + "/") for p in list(self.sources) + list(self.links))

    def _add(self, path):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        self.sources[path] = (fd, stat.S_ISDIR(os.fstat(fd).st_mode))

    def enter(self):
        kernel = self.kernel
        self.collect()
        kernel.mount(b"banyan", NEW_ROOT.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, b"size=1m,mode=0755")
        for name in ("proc", "dev", "dev/shm", "etc", "tmp", "job", "box", ".old"):
            os.mkdir(os.path.join(NEW_ROOT, name), 0o755)
        for path in sorted(self.sources, key=len):
            self._bind(path, *self.sources[path])
        for path, target in self.links.items():
            os.symlink(target, NEW_ROOT + path)
        for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"),
                             ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
            os.symlink(target, os.path.join(NEW_ROOT, "dev", name))
        for name, text in ETC_TEXTS.items():
            with open(os.path.join(NEW_ROOT, "etc", name), "w") as file:
                file.write(text)
            os.chmod(os.path.join(NEW_ROOT, "etc", name), 0o444)
        os.chdir(NEW_ROOT)
        self._pivot()
        kernel.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        # The parent's own: libraries want a temporary folder while they load.
        kernel.mount(b"banyan", b"/tmp", b"tmpfs", MS_NOSUID | MS_NODEV, b"size=64m,mode=01777")
        kernel.mount(None, b"/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID)

    def _bind(self, path, fd, folder):
        target = NEW_ROOT + path
        if folder:
            os.makedirs(target, 0o755, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
        device = path.startswith("/dev/")
        self.kernel.mount(b"/proc/self/fd/%d" % fd, target.encode(), None, MS_BIND | MS_REC)
        os.close(fd)
        self._read_only(target.encode(), device)

    def _read_only(self, target, device):
        flags = MS_NOSUID | (MS_NOEXEC if device else MS_RDONLY | MS_NODEV)
        c = self.kernel.c
        # struct mount_attr: the MOUNT_ATTR_* bits of these flags equal MS_*.
        attributes = (c.c_uint64 * 4)(flags, 0, 0, 0)
        try:
            self.kernel.syscall(SYS_MOUNT_SETATTR, -100, target, c.c_uint(0x8000),  # AT_RECURSIVE
                                c.byref(attributes), c.c_size_t(32))
        except OSError as error:
            if error.errno != errno.ENOSYS:  # Linux before 5.12: no mount below may stay
                raise
            self.kernel.mount(None, target, None, MS_REMOUNT | MS_BIND | flags)
            with open("/proc/self/mountinfo", "rb") as table:
                if any(line.split()[4].startswith(target + b"/") for line in table):
                    raise OSError(errno.EBUSY, "a mount below cannot be made read-only", target)

    def _pivot(self):
        number = {"x86_64": 155, "aarch64": 41, "riscv64": 41}.get(os.uname().machine)
        if number is None:
            raise OSError(errno.ENOSYS, "pivot_root is unknown on this architecture")
        self.kernel.syscall(number, b".", b".old")
        os.chdir("/")
        self.kernel.unmount(b"/.old")
        os.rmdir("/.old")


# --------------------------------------------------------------------------
# Walls
# --------------------------------------------------------------------------

class WallError(Exception):
    """A wall that is required could not be put up."""

    def __init__(self, step, error):
        super().__init__("%s: %s" % (step, error))
        self.step = step
        self.errno = getattr(error, "errno", None) or 0
        self.text = str(error)[:500]


class Walls:
    """The walls of the parent (once, at boot) and of each job."""

    def __init__(self, kernel, config):
        self.kernel = kernel
        self.required = frozenset(config.get("require") or ())
        self.hostname = str(config.get("hostname") or "banyan").encode()
        self.filter = base64.b64decode(config.get("seccomp") or "")
        self.up = []            # walls of the parent that its children inherit
        self.landlock_abi = 0
        self.landlock_fd = -1
        self.pid_ns = -1
        self.home_net = -1
        self.free_nets = []     # the one that has rested longest first
        self.unused_net = None  # what the kernel says of one that was never used
        self.masked = [b"/proc/" + name.encode() for name in MASKED if os.path.exists("/proc/" + name)]
        self.child_flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS

    # -- once, in the parent ------------------------------------------------

    def raise_parent(self):
        kernel = self.kernel
        prefer_as_victim(OOM_AGENT)
        quiet_limits()
        self._step("namespaces", self._parent_namespaces)
        self._step("root", NarrowRoot(kernel).enter)
        self._step("pid", self._open_namespaces)
        self._step("landlock", self._prepare_landlock)
        self._step("no_new_privs", lambda: kernel.prctl(PR_SET_NO_NEW_PRIVS, 1))
        self._step("capabilities", lambda: kernel.keep_capabilities(AGENT_CAPS))
        if self.filter:
            self._step("seccomp", self._prepare_seccomp)

    def _step(self, name, action):
        try:
            action()
        except Exception as error:
            if name in self.required or name in ("namespaces", "root", "pid", "capabilities"):
                raise WallError(name, error)
            print("banyan agent: wall %s: %s" % (name, error), file=sys.stderr, flush=True)
        else:
            self.up.append(name)

    def _parent_namespaces(self):
        # The agent's control socket is connected already; it needs no network.
        self.kernel.unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
        self.kernel.mount(b"none", b"/", None, MS_REC | MS_PRIVATE)
        try:
            # Where a job's control group lies on the host is not its business.
            self.kernel.unshare(CLONE_NEWCGROUP)
            self.child_flags |= CLONE_NEWCGROUP
        except OSError:
            pass  # a kernel without them; named in no report as being up

    def _open_namespaces(self):
        self.pid_ns = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.home_net = self._open_net()

    @staticmethod
    def _open_net():
        return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def take_net(self):
        """An empty network namespace that no job has left a trace in.

        Making and unmaking one is dear (half a millisecond, and a kernel-wide
        lock), so those that were not used are used again.
        """
        if self.free_nets:
            return self.free_nets.pop(0)
        self.kernel.unshare(CLONE_NEWNET)
        try:
            if self.unused_net is None:
                self.unused_net = self._net_state()
            return self._open_net()
        finally:
            self.kernel.setns(self.home_net, CLONE_NEWNET)

    def give_net(self, fd):
        """Take one back from a job that has ended, or let go of it."""
        if len(self.free_nets) < MAX_FREE_NETS and self._is_unused(fd):
            self.free_nets.append(fd)
        else:
            os.close(fd)

    def _is_unused(self, fd):
        """Whether the next job could not tell that there was one before it.

        A job cannot change its namespace, that takes capabilities. But a socket
        outlives it that was sent over itself, with its name, until the kernel
        collects such cycles; and the kernel counts what was tried.
        """
        self.kernel.setns(fd, CLONE_NEWNET)
        try:
            return self._net_state() == self.unused_net
        except OSError:
            return False
        finally:
            self.kernel.setns(self.home_net, CLONE_NEWNET)

    @staticmethod
    def _net_state():
        """Sockets and counters of the namespace that we are in."""
        state = []
        for name, size in (("sockstat", 16), ("snmp", 8192), ("snmp6", 16384)):
            try:
                fd = os.open("/proc/self/net/" + name, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue  # a kernel without IPv6
            try:
                # Behind its first line, "sockets: used 0", sockstat counts for all the host.
                state.append(os.read(fd, size))
            finally:
                os.close(fd)
        return state

    def leave_nets(self):
        """For a branch: the spare ones are its trunk's."""
        for fd in self.free_nets:
            os.close(fd)
        self.free_nets.clear()

    def _prepare_landlock(self):
        c, kernel = self.kernel.c, self.kernel
        self.landlock_abi = kernel.syscall(SYS_LANDLOCK_CREATE, None, c.c_size_t(0), c.c_uint(1))
        if self.landlock_abi < LANDLOCK_SCOPE_ABI:
            raise OSError(errno.ENOSYS, "Landlock version %d has no scopes" % self.landlock_abi)
        attributes = (c.c_uint64 * 3)(0, 0, LANDLOCK_SCOPES)
        # Every restrict_self makes a domain of its own, so one rule set does
        # for all children and still keeps them apart.
        self.landlock_fd = kernel.syscall(SYS_LANDLOCK_CREATE, c.byref(attributes), c.c_size_t(24), c.c_uint(0))

    def _prepare_seccomp(self):
        c = self.kernel.c
        size = 8  # struct sock_filter
        if len(self.filter) % size or not 0 < len(self.filter) // size <= 4096:
            raise ValueError("the filter has %d bytes" % len(self.filter))
        self._filter_buffer = c.create_string_buffer(self.filter, len(self.filter))

        class Program(c.Structure):
            _fields_ = [("length", c.c_ushort), ("filter", c.c_void_p)]

        self._program = Program(len(self.filter) // size, c.addressof(self._filter_buffer))
        self._program_address = c.addressof(self._program)

    # -- per job, in the child ----------------------------------------------

    def raise_child(self, request, fds, net):
        """Put up all walls but the filter. Return the bridge connection.

        The order matters; see the comments. fds are control, stdin, stdout,
        stderr and the cgroup.procs files.
        """
        kernel, step = self.kernel, "cgroup"
        try:
            # First, before anything is allocated, so that the leaf is charged
            # for all of it. Back to back: only the first write can be slow.
            for fd in fds[4:]:
                os.write(fd, b"0")
            step = "oom"
            prefer_as_victim(OOM_JOB)
            step = "pdeathsig"
            kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            step = "namespaces"
            kernel.setns(net, CLONE_NEWNET)
            kernel.unshare(self.child_flags)
            kernel.sethostname(self.hostname)
            os.setsid()
            step = "files"
            uid, gid = int(request["uid"]), int(request["gid"])
            self._private_files(uid, gid, int(request["files_bytes"]))
            step = "uid"
            if uid <= 0 or gid <= 0:
                raise ValueError("a job's uid must be above 0")
            for fd in fds[1:4]:
                os.fchown(fd, uid, gid)  # else open("/dev/stdout") is refused
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            step = "files"
            os.chdir("/job")  # only its owner may; the old one lies below the mount
            step = "pdeathsig"
            kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # the uid change cleared it
            step = "capabilities"
            if kernel.capabilities() != 0:
                raise OSError(errno.EPERM, "capabilities are left")
            if self.landlock_fd >= 0:
                step = "landlock"
                kernel.syscall(SYS_LANDLOCK_RESTRICT, self.landlock_fd, 0)
            step = "descriptors"
            self._take_descriptors(fds)
        except Exception as error:
            raise WallError(step, error)

    def _private_files(self, uid, gid, size):
        """One tmpfs with the job's size limit, seen at three places."""
        kernel, flags = self.kernel, MS_NOSUID | MS_NODEV
        kernel.mount(b"banyan", b"/box", b"tmpfs", flags, b"size=%d,nr_inodes=65536,mode=0755" % size)
        for name, mode in (("/box/tmp", 0o1777), ("/box/shm", 0o1777), ("/box/job", 0o700)):
            os.mkdir(name)
            os.chmod(name, mode)
            os.chown(name, uid, gid)
        kernel.mount(b"/box/tmp", b"/tmp", None, MS_BIND)
        kernel.mount(b"/box/shm", b"/dev/shm", None, MS_BIND)
        kernel.mount(b"/box/job", b"/job", None, MS_BIND)
        kernel.unmount(b"/box")
        kernel.mount(b"proc", b"/proc", b"proc", flags | MS_NOEXEC)
        for path in self.masked:
            kernel.mount(b"/dev/null", path, None, MS_BIND)

    def _take_descriptors(self, fds):
        # To numbers above all targets first, so that none is overwritten.
        moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in fds[:4]]
        for target, fd in zip((CONTROL_FD, 0, 1, 2), moved):
            os.dup2(fd, target, inheritable=target != CONTROL_FD)
        self.kernel.close_from(CONTROL_FD + 1)

    def seal_child(self):
        """The filter, last, so that it may forbid all calls above."""
        if "seccomp" in self.up:
            try:
                self.kernel.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._program_address)
            except OSError as error:
                raise WallError("seccomp", error)

    def names(self, attached):
        """The walls that a child which came this far is behind."""
        up = ["pid", "mnt", "net", "ipc", "uts", "root", "files", "uid", "capabilities"]
        if self.child_flags & CLONE_NEWCGROUP:
            up.append("cgroupns")
        up += [name for name in ("no_new_privs", "landlock", "seccomp") if name in self.up]
        return up + (["cgroup"] if attached else [])


# When the host runs out of memory jobs go first, then agents, then the daemon.
# Where the daemon has CAP_SYS_RESOURCE a job can take its own value down to its
# agent's, not below it.
OOM_AGENT, OOM_JOB = 300, 1000


def prefer_as_victim(score):
    fd = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
    try:
        if int(os.read(fd, 16)) < score:
            os.write(fd, b"%d" % score)
    finally:
        os.close(fd)


def quiet_limits():
    """Limits that are the same for the agent and all its jobs.

    A core file would hold the parent's memory, and outlive the job. A limit of
    0 keeps the kernel from writing one, but not from piping one to a program of
    the host's; the limit 1 does both (core(5)). Real-time priority could hold a
    processor for ever.
    """
    for kind, value in ((resource.RLIMIT_CORE, 1), (resource.RLIMIT_RTPRIO, 0), (resource.RLIMIT_NICE, 0),
                        (resource.RLIMIT_MEMLOCK, 8 << 20), (resource.RLIMIT_MSGQUEUE, 819200)):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


# --------------------------------------------------------------------------
# Loading and reporting
# --------------------------------------------------------------------------

class LoadError(Exception):
    """A module or the set-up code raised; code says which."""

    def __init__(self, code, module, error):
        super().__init__(code)
        self.code, self.module = code, module
        self.text = _clip(_describe(error), 4000)


def _describe(error):
    try:
        text = str(error)
    except Exception:
        text = "<no text>"
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def _clip(text, limit):
    """Cut the middle out of a text that is too long."""
    if len(text) <= limit:
        return text
    return text[:limit // 2] + "\n[...]\n" + text[-limit // 2:]


def load_modules(names):
    report = []
    for name in names:
        begin = time.perf_counter()
        try:
            importlib.import_module(name)
        except BaseException as error:  # a module may even exit
            raise LoadError("import", name, error)
        took = (time.perf_counter() - begin) * 1000
        report.append({"name": name, "version": version_of(name, True), "ms": round(took, 3)})
    return report


def run_setup(source):
    """Run set-up code as __main__; a job's __main__ starts with its names."""
    begin = time.perf_counter()
    namespace = main_module("<setup>").__dict__
    try:
        remember_source("<setup>", source)
        exec(compile(source, "<setup>", "exec", dont_inherit=True), namespace)
    except BaseException as error:
        raise LoadError("setup", "", error)
    return round((time.perf_counter() - begin) * 1000, 3)


def version_of(name, thorough=False):
    """The version of the package a module belongs to, "" if unknown."""
    top = name.partition(".")[0]
    # Not getattr: that could run a module's own __getattr__.
    found = getattr(sys.modules.get(top), "__dict__", {}).get("__version__")
    if type(found) is str and 0 < len(found) <= 64:
        return found
    if thorough and top not in sys.builtin_module_names:
        try:
            from importlib import metadata
            found = metadata.version(top)
        except Exception:
            return ""
        return found if type(found) is str and len(found) <= 64 else ""
    return ""


def holdings(asked):
    """The public modules that are loaded, those asked for first."""
    names = [n for n in asked if n in sys.modules]
    seen = set(names)
    for name in sorted(n for n in list(sys.modules) if type(n) is str):
        public = not any(part.startswith("_") for part in name.split("."))
        if public and name not in seen and len(name) <= 256 and sys.modules[name] is not None:
            names.append(name)
    return [[n, version_of(n, n in seen)] for n in names[:MAX_HOLDS]], len(names) > MAX_HOLDS


def single_threaded():
    """Return the number of threads, once those that are ending have ended."""
    for _ in range(20):
        count = len(os.listdir("/proc/self/task"))
        if count == 1:
            break
        time.sleep(0.01)
    return count


def has_children():
    """Whether a child process runs; those that have ended are reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True


# --------------------------------------------------------------------------
# User code
# --------------------------------------------------------------------------

VALUE = "__banyan_value__"


def main_module(path):
    """The module that user code is: a true __main__."""
    main = sys.modules.get("__main__")
    if main is None or main.__dict__ is globals():
        main = types.ModuleType("__main__")
        main.__builtins__ = builtins
        sys.modules["__main__"] = main
    main.__file__ = path
    main.__package__ = None
    return main


def remember_source(path, source):
    """Let tracebacks and inspect find the lines. No time stamp: never stale."""
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)


def compile_user(source, path):
    """Compile as a script, but keep the value of a last-line expression."""
    tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        target = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return compile(tree, path, "exec", dont_inherit=True)


def show_value(value):
    """The forms of a result by MIME type, each bounded."""
    forms = {"text/plain": _clip(repr(value), MAX_TEXT)}
    if isinstance(value, type):
        return forms
    html = _offered(value, "_repr_html_")
    if isinstance(html, str) and len(html) <= MAX_RICH:
        forms["text/html"] = html
    png = _offered(value, "_repr_png_")
    if png is None and type(value).__module__.startswith("matplotlib.") and hasattr(value, "savefig"):
        buffer = io.BytesIO()
        value.savefig(buffer, format="png")
        png = buffer.getvalue()
    if isinstance(png, bytes) and 0 < len(png) <= MAX_RICH // 4 * 3:
        forms["image/png"] = base64.b64encode(png).decode("ascii")
    return forms


def _offered(value, name):
    method = getattr(value, name, None)
    if not callable(method):
        return None
    try:
        return method()
    except Exception:
        return None  # a form that fails is a form not offered


def exit_code(error):
    """What CPython makes of a SystemExit (handle_system_exit)."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 255
    try:
        sys.stdout.flush()
    except Exception:
        pass
    try:
        print(code, file=sys.stderr, flush=True)
    except Exception:
        pass
    return 1


def report_exception(kind, error, trace):
    """Show an uncaught exception without our own frames; return it for done."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    # The class may have a metaclass that lies or raises; type itself does not.
    name = type.__dict__["__name__"].__get__(kind)
    try:
        text = _clip("".join(traceback.format_exception(kind, error, trace)), MAX_TEXT)
    except BaseException:  # the exception's own methods may raise what they like
        text = "".join(traceback.format_tb(trace)) + name + ": <exception cannot be shown>\n"
    try:
        sys.stdout.flush()
    except Exception:
        pass
    try:
        if sys.excepthook is sys.__excepthook__:
            sys.stderr.write(text)
            sys.stderr.flush()
        else:
            sys.excepthook(kind, error, trace)
    except BaseException:
        pass  # the hook's own failure; the result carries the exception anyway
    try:
        message = str(error)
    except BaseException:  # it may raise what it likes
        message = "<exception str() failed>"
    return {"name": name, "message": _clip(message, MAX_TEXT), "traceback": text}


def run_user(source, path):
    """Run user code. Return (exit code, value, exception)."""
    namespace = main_module(path).__dict__
    remember_source(path, source)
    try:
        exec(compile_user(source, path), namespace)
        value = namespace.pop(VALUE, None)
        return 0, None if value is None else show_value(value), None
    except SystemExit as error:
        return exit_code(error), None, None
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        return code, None, report_exception(type(error), error, error.__traceback__)


def wind_down():
    """End as CPython does: threads, exit handlers, flush. Return an exit code."""
    for step in (threading._shutdown, atexit._run_exitfuncs):
        try:
            step()
        except BaseException:
            pass  # CPython reports these and goes on as well
    code = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            code = EXIT_FLUSH if stream is sys.stdout else code
    return code


# --------------------------------------------------------------------------
# A job's files
# --------------------------------------------------------------------------

class FileLayer:
    """Lays the job's files into the current directory, chunk by chunk."""

    def __init__(self):
        self.path = None
        self.fd = -1

    def take(self, frame):
        path, data = frame["path"], base64.b64decode(frame["data"])
        if self.fd < 0:
            self.path, self.fd = path, self._create(path, int(frame.get("mode") or 0o644) & 0o777)
        elif path != self.path:
            raise ProtocolError("a file frame in the middle of another file")
        view = memoryview(data)
        while view:
            view = view[os.write(self.fd, view):]
        if not frame.get("more"):
            os.close(self.fd)
            self.fd = -1

    @staticmethod
    def _create(path, mode):
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in path:
            raise ProtocolError("bad file name")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if os.path.islink(folder):
                raise ProtocolError("a link on a file's way")
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o755)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.fchmod(fd, mode)
        return fd


def pattern_to_regex(pattern):
    """The meaning of Go's path.Match by segment, and of "**"."""
    segments = pattern.split("/")
    out = []
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "**":
            out.append("(?:[^/]+(?:/[^/]+)*)?" if last else "(?:[^/]+/)*")
            continue
        out.append(_segment_to_regex(segment) + ("" if last else "/"))
    if segments[-1] == "**" and len(out) > 1:
        out[-2] = out[-2][:-1]  # "a/**" asks for "a" too
        out[-1] = "(?:/[^/]+)*"
    return re.compile("(?s:%s)\\Z" % "".join(out))


def _segment_to_regex(segment):
    out, i = [], 0
    while i < len(segment):
        char = segment[i]
        i += 1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "\\" and i < len(segment):
            out.append(re.escape(segment[i]))
            i += 1
        elif char == "[":
            end = i
            while end < len(segment) and (segment[end] != "]" or end == i):
                end += 2 if segment[end] == "\\" else 1
            inside = segment[i:end]
            negated = inside.startswith("^")
            inside = inside[1:] if negated else inside
            inside = inside.replace("[", "\\[").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
            out.append("(?!/)[%s%s]" % ("^" if negated else "", inside))
            i = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)


class Collector:
    """Finds and sends the artifacts. Regular files only; no link is followed."""

    def __init__(self, connection, job):
        self.connection = connection
        self.patterns = [pattern_to_regex(p) for p in job.get("artifacts") or ()]
        self.count = int(job.get("max_artifacts") or 0)
        self.bytes = int(job.get("max_artifact_bytes") or 0)
        self.skipped = []
        self.looked = 0

    def collect(self, root):
        if self.patterns:
            self._walk(root, "", 1)
        return self.skipped

    def _skip(self, path, why):
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append("%s: %s" % (_clip(_printable(path), 400), why))

    def _walk(self, folder, prefix, depth):
        if depth > MAX_DEPTH:
            self._skip(prefix, "too many levels")
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError as error:
            self._skip(prefix or ".", os.strerror(error.errno or 0))
            return
        for entry in entries:
            self.looked += 1
            if self.looked > MAX_WALK:
                self._skip(prefix or ".", "too many files")
                return
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                self._walk(os.path.join(folder, entry.name), path + "/", depth + 1)
            elif any(p.match(path) for p in self.patterns):
                self._send(os.path.join(folder, entry.name), path)

    def _send(self, full, path):
        if _printable(path) != path:
            self._skip(path, "the name is not UTF-8")
            return
        if len(path.encode()) > MAX_PATH or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in path):
            self._skip(repr(path), "no result may have such a name")
            return
        try:
            # Not blocking: a FIFO must not hold us. No link is followed.
            fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            why = "a link" if error.errno == errno.ELOOP else os.strerror(error.errno or 0)
            self._skip(path, "not a regular file" if error.errno == errno.ENXIO else why)
            return
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                self._skip(path, "not a regular file")
            elif self.count <= 0:
                self._skip(path, "more artifacts than are allowed")
            elif info.st_size > self.bytes:
                self._skip(path, "over the size limit")
            else:
                self.count -= 1
                self._stream(fd, path, info.st_size)
        finally:
            os.close(fd)

    def _stream(self, fd, path, size):
        self.bytes -= size
        while True:
            data = os.read(fd, min(CHUNK, size))
            size -= len(data)
            more = size > 0 and len(data) > 0
            self.connection.send({"op": "artifact", "path": path, "more": more,
                                  "data": base64.b64encode(data).decode("ascii")})
            if not more:
                return


def _printable(path):
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --------------------------------------------------------------------------
# A job
# --------------------------------------------------------------------------

class Streams:
    """sys.stdin, stdout and stderr for a job, on descriptors 0, 1 and 2.

    stdout is line buffered, stderr not buffered at all: what was printed
    before a timeout is there.
    """

    def __init__(self):
        # None of them closes its descriptor when it is collected.
        out = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
        err = io.FileIO(2, "w", closefd=False)
        self.stdout = self._text(out, "<stdout>", "w", errors="surrogateescape", line_buffering=True)
        self.stderr = self._text(err, "<stderr>", "w", errors="backslashreplace", write_through=True)

    @staticmethod
    def _text(binary, name, mode, **options):
        text = io.TextIOWrapper(binary, encoding="utf-8", **options)
        text.mode = mode
        try:
            (binary.raw if hasattr(binary, "raw") else binary).name = name
        except AttributeError:
            pass
        return text

    def install(self):
        _KEEP.extend((sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__))
        # stdin only now: whether it can seek is asked when it is made.
        stdin = io.BufferedReader(io.FileIO(0, "r", closefd=False))
        sys.stdin = sys.__stdin__ = self._text(stdin, "<stdin>", "r", errors="surrogateescape")
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr


def forget_inherited():
    """Drop what a job must not inherit from its parent, before anything else."""
    atexit._clear()
    # Handlers of the standard library that its own later users rely on.
    finalize = getattr(sys.modules.get("weakref"), "finalize", None)
    if finalize is not None:
        _KEEP.append(dict(finalize._registry))  # freeing them would run nothing, but touch much
        finalize._registry.clear()
        finalize._registered_with_atexit = False
    logging = sys.modules.get("logging")
    if logging is not None:
        atexit.register(logging.shutdown)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util._finalizer_registry.clear()
        atexit.register(util._exit_function)
        process = sys.modules["multiprocessing.process"].current_process()
        process.authkey = os.urandom(32)
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = None
        tempfile._name_sequence = None


def rehearse():
    """Touch the pages that every program touches.

    A child that waits for its job has the time for these page faults now.
    """
    exec(compile_user("0", "<rehearsal>"), {"__builtins__": builtins})
    json.loads(json.dumps({"op": "job", "limits": {"cpu_s": 1}, "args": [""]}))


def reseed():
    """Give this fork random state of its own; a user's own seed still wins."""
    random = sys.modules.get("random")
    if random is not None:
        random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "seed"):
        torch.seed()


def set_limits(limits):
    for name, kind in (("fsize", resource.RLIMIT_FSIZE), ("nofile", resource.RLIMIT_NOFILE),
                       ("nproc", resource.RLIMIT_NPROC), ("as", resource.RLIMIT_AS)):
        value = int(limits.get(name) or 0)
        if value > 0:
            hard = resource.getrlimit(kind)[1]
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(kind, (value, value))
    cpu = int(limits.get("cpu_s") or 0)
    if cpu > 0:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))


def receive_job(connection, load=None):
    """Lay the files and return the job frame. load takes a load frame (cold)."""
    layer = FileLayer()
    while True:
        frame, fds = connection.receive()
        for fd in fds:
            os.close(fd)
        if frame is None:
            raise EOFError("the host went away before the job came")
        if frame.get("op") == "file":
            layer.take(frame)
        elif frame.get("op") == "job":
            return frame
        elif frame.get("op") == "load" and load is not None:
            load(frame)
        else:
            raise ProtocolError("unexpected frame")


def run_job(connection, flush_c, load=None):
    """Receive one job, run it, report, and end the process. Never returns."""
    code = EXIT_FAILED
    try:
        try:
            job = receive_job(connection, load)
            root = os.getcwd()
            path = os.path.join(root, "__main__.py")
            os.environ.update(job.get("env") or {})
            sys.argv[:] = [path] + [str(a) for a in job.get("args") or ()]
            sys.path.insert(0, root)
            if load is not None:
                reseed()  # a fork has done so when it was made
            set_limits(job.get("limits") or {})
            collector = Collector(connection, job)
            source = job["code"]
        except Exception as error:
            fail(connection, "load" if isinstance(error, LoadError) else "job", error)
        del job["code"]
        connection.send({"op": "started"})
        code = 1  # from here on what fails is the job's doing, not a wall's
        me = os.getpid()
        code, value, exception = run_user(source, path)
        code = wind_down() or code
        if flush_c is None and "ctypes" in sys.modules:
            flush_c = sys.modules["ctypes"].CDLL(None).fflush
        if flush_c is not None:
            flush_c(None)
        if os.getpid() == me:  # not a fork of the job that came this way too
            finish(connection, collector, root, value, exception)
    finally:
        os._exit(code)


def finish(connection, collector, root, value, exception):
    try:
        skipped = collector.collect(root)
        connection.send({"op": "done", "value": value, "exception": exception, "skipped": skipped})
    except OSError:
        pass  # the host has closed: it does not want to know any more


def fail(connection, step, error):
    """Report a failure from before user code, and end."""
    try:
        connection.send({"op": "fail", "step": step, "errno": getattr(error, "errno", None) or 0,
                         "message": _clip(error.text if isinstance(error, LoadError) else _describe(error), 1000)})
    finally:
        os._exit(EXIT_FAILED)


def run_cold():
    """One job in a fresh process, without walls."""
    connection = Connection.on(CONTROL_FD)
    os.set_inheritable(CONTROL_FD, False)
    close_own_descriptors()
    quiet_limits()
    Streams().install()
    run_job(connection, None, cold_load)


def cold_load(frame):
    """Load in the job's own process what a warm parent would hold for it.

    As in a fork, the job sees the effect of it and nothing else: what was
    printed meanwhile, exit handlers and signal handlers are dropped.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    saved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in (0, 1, 2)]
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    try:
        load_modules([str(m["name"]) for m in frame.get("modules") or ()])
        if frame.get("setup"):
            run_setup(frame["setup"])
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        if "ctypes" in sys.modules:
            sys.modules["ctypes"].CDLL(None).fflush(None)
        for fd, old in zip((0, 1, 2), saved):
            os.dup2(old, fd)
            os.close(old)
        os.close(null)
    forget_inherited()
    reset_signals()


# --------------------------------------------------------------------------
# The agent
# --------------------------------------------------------------------------

class Agent:
    """The loop of a parent."""

    def __init__(self, connection):
        self.connection = connection
        self.kernel = Kernel()
        self.walls = None
        self.streams = None
        self.sealed = False
        self.is_branch = False
        self.collects = True    # whether garbage collection was on when sealed
        self.asked = []
        self.children = {}      # pidfd -> (pid, id, network namespace or -1 for a branch)
        self.poll = select.epoll()
        self.poll.register(connection.sock.fileno(), select.EPOLLIN)

    # -- life ---------------------------------------------------------------

    def boot(self):
        frame, _ = self.connection.receive()
        if frame is None:
            os._exit(0)
        if frame.get("op") != "boot":
            raise ProtocolError("the first frame must be boot")
        self.walls = Walls(self.kernel, frame.get("walls") or {})
        self.walls.raise_parent()
        self.hello()

    def hello(self):
        self.connection.send({
            "op": "hello", "protocol": PROTOCOL, "pid": os.getpid(),
            "python": "%d.%d.%d" % sys.version_info[:3],
            "landlock_abi": self.walls.landlock_abi, "walls": self.walls.up,
        })

    def serve(self):
        control = self.connection.sock.fileno()
        while True:
            for fd, _ in self.poll.poll():
                if fd != control:
                    self.reap(fd)
                    continue
                frame, fds = self.connection.receive()
                if frame is None or frame.get("op") == "close":
                    self.end()
                self.handle(frame, fds)

    def handle(self, frame, fds):
        operation = {"load": self.load, "seal": self.seal, "fork": self.fork,
                     "branch": self.branch}.get(frame.get("op"))
        try:
            if operation is None:
                raise ProtocolError("unknown operation")
            operation(frame, fds)
        except LoadError as error:
            self.error(error.code, error.text, module=error.module)
        finally:
            for fd in fds:
                os.close(fd)

    def error(self, code, message, **more):
        self.connection.send(dict(more, op="error", code=code, message=message))

    def end(self):
        """Kill the jobs, then stay for the branches: they are our children."""
        self.connection.sock.close()
        for pid, _, net in self.children.values():
            if net >= 0:
                os.kill(pid, signal.SIGKILL)
        # Nothing else is wanted of this process but to reap.
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                os._exit(0)

    # -- load and seal ------------------------------------------------------

    def load(self, frame, fds):
        if self.sealed:
            self.error("sealed", "a sealed parent loads nothing")
            return
        names = [str(m["name"]) for m in frame.get("modules") or ()]
        report = load_modules(names)
        self.asked += [n for n in names if n not in self.asked]
        setup = frame.get("setup") or ""
        took = run_setup(setup) if setup else 0
        self.connection.send({"op": "loaded", "modules": report, "setup_ms": took})

    def seal(self, frame, fds):
        threads = single_threaded()
        if threads != 1:
            self.error("not-fork-safe", "%d threads run in the parent" % threads)
            return
        if has_children():
            self.error("not-fork-safe", "the set-up code left a process running")
            return
        names, truncated = holdings(self.asked)
        if self.streams is None:
            self.streams = Streams()
        main_module("")
        if self.is_branch:
            # A sealed branch outlives its trunk. The host's death ends it
            # through its socket, which it always hears from here on.
            self.kernel.prctl(PR_SET_PDEATHSIG, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else nobody could wait for a job
        self.sealed = True
        self.collects = gc.isenabled()
        gc.collect()
        gc.disable()
        gc.freeze()
        with open("/proc/self/statm") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        self.connection.send({"op": "sealed", "holds": names, "truncated": truncated,
                              "resident_bytes": resident})

    # -- forks --------------------------------------------------------------

    def fork(self, frame, fds):
        if not self.sealed or len(fds) != 4 + int(frame["attach"]):
            raise ProtocolError("bad fork request")
        net = -1
        try:
            net = self.walls.take_net()
            pid = self.fork_into_namespace()
        except OSError as error:
            if net >= 0:
                self.walls.give_net(net)
            self.error("fork", _describe(error), id=frame["id"])
            return
        if pid == 0:
            try:
                self.become_job(frame, fds, net)
            except BaseException as error:  # a fault of ours
                fail(Connection.on(CONTROL_FD), "agent", error)
            finally:
                os._exit(EXIT_FAILED)
        self.adopt(pid, frame["id"], net)

    def fork_into_namespace(self):
        """Fork a child that is PID 1 of a new namespace.

        unshare changes what our next child is born in; nothing else may fork
        until it is changed back. A failure to do that ends the agent.
        """
        self.flush()
        self.kernel.unshare(CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                self.kernel.setns(self.walls.pid_ns, CLONE_NEWPID)
        return pid

    def flush(self):
        """What sits in a buffer now would come out of every child."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        self.kernel.fflush(None)

    def adopt(self, pid, ident, net):
        fd = self.kernel.pidfd_open(pid)
        self.children[fd] = (pid, ident, net)
        self.poll.register(fd, select.EPOLLIN)
        self.connection.send({"op": "forked", "id": ident, "pid": pid}, [fd])

    def reap(self, fd):
        pid, ident, net = self.children.pop(fd)
        self.poll.unregister(fd)
        os.close(fd)
        _, status, usage = os.wait4(pid, 0)
        self.connection.send({
            "op": "exit", "id": ident, "status": status, "max_rss_bytes": usage.ru_maxrss * 1024,
            "user_us": int(usage.ru_utime * 1e6), "system_us": int(usage.ru_stime * 1e6),
        })
        if net >= 0:
            self.walls.give_net(net)

    def become_job(self, frame, fds, net):
        """In the child: walls, then the job. Never returns."""
        # Objects that own a descriptor go before the numbers change hands.
        self.connection.sock.close()
        self.poll.close()
        forget_inherited()
        reset_signals()
        try:
            self.walls.raise_child(frame, fds, net)
            bridge = Connection.on(CONTROL_FD)
        except WallError as error:
            fail(Connection.on(fds[0]), error.step, error)
        try:
            self.streams.install()
            self.walls.seal_child()
        except Exception as error:
            fail(bridge, getattr(error, "step", "streams"), error)
        if self.collects:
            gc.enable()
        reseed()
        rehearse()
        bridge.send({"op": "ready", "walls": self.walls.names(len(fds) > 4)})
        run_job(bridge, self.kernel.fflush)

    def branch(self, frame, fds):
        if not self.sealed or len(fds) != 2:
            raise ProtocolError("bad branch request")
        self.flush()
        try:
            pid = os.fork()
        except OSError as error:
            self.error("fork", _describe(error), id=frame["id"])
            return
        if pid == 0:
            try:
                self.become_agent(fds)
            finally:
                os._exit(EXIT_FAILED)
        self.adopt(pid, frame["id"], -1)

    def become_agent(self, fds):
        """In the child: a new agent on its own control socket. Never returns."""
        # While it loads it cannot see its socket's end; its trunk can.
        self.kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        control, log = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in fds)
        for fd, (_, _, net) in self.children.items():
            os.close(fd)
            if net >= 0:
                os.close(net)
        self.walls.leave_nets()
        for fd in fds:
            os.close(fd)
        fds.clear()
        self.children.clear()
        self.poll.close()
        self.connection.sock.close()
        for target in (1, 2):
            os.dup2(log, target)
        os.close(log)
        self.connection = Connection.on(control)
        self.poll = select.epoll()
        self.poll.register(control, select.EPOLLIN)
        self.sealed, self.is_branch = False, True
        gc.unfreeze()
        if self.collects:
            gc.enable()
        reseed()
        guard(self.connection, self.branch_loop)

    def branch_loop(self):
        self.hello()
        self.serve()

    def trunk_loop(self):
        self.boot()
        self.serve()


def reset_signals():
    """Take back what set-up code may have changed about signals."""
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in range(1, signal.NSIG):
        handler = signal.getsignal(number)
        if callable(handler) and handler is not signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)


def close_own_descriptors():
    """Close what the start left behind the control socket: our own source."""
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        if int(name) > CONTROL_FD:
            try:
                os.close(int(name))
            except OSError:
                pass  # the listing's own


def run_agent():
    connection = Connection.on(CONTROL_FD)
    os.set_inheritable(CONTROL_FD, False)
    close_own_descriptors()
    # Two descriptors a child; the usual soft limit is for programs that select.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    guard(connection, Agent(connection).trunk_loop)


def guard(connection, loop):
    """Run an agent's loop; whatever ends it is told to the host. Never returns."""
    try:
        try:
            loop()
        except WallError as error:
            connection.send({"op": "error", "code": "wall", "message": str(error)[:1000], "module": error.step})
        except Exception as error:
            connection.send({"op": "error", "code": "protocol", "message": _clip(_describe(error), 1000)})
    finally:
        os._exit(EXIT_FAILED)


def main(arguments):
    # User code is __main__; this file must not be.
    sys.modules["_banyan_agent"] = sys.modules.pop("__main__")
    sys.argv[:] = [""]
    if arguments == ["--cold"]:
        run_cold()
    elif arguments == ["--agent"]:
        run_agent()
    else:
        print("usage: agent.py --agent|--cold", file=sys.stderr)
        os._exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
