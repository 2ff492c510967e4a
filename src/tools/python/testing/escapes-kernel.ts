import type { Targets } from "./targets.js";

/** System calls by name, [x86-64, aarch64]: made directly, as no library would. */
const direct: Record<string, readonly [number, number, string?]> = {
  io_uring_setup: [425, 425, "8, buffer"],
  io_uring_enter: [426, 426, "0, 1, 1, 0, 0, 0"],
  io_uring_register: [427, 427, "0, 0, buffer, 1"],
  umount2: [166, 39, 'b"/tmp", 2'],
  "umount2 of /usr": [166, 39, 'b"/usr/lib", 2'],
  mount: [165, 40, 'b"none", b"/tmp", b"tmpfs", 0, 0'],
  "mount /proc": [165, 40, 'b"proc", b"/tmp", b"proc", 0, 0'],
  "remount writable": [165, 40, 'b"none", b"/", b"", 0x21 | 0x1000, 0'],
  pivot_root: [155, 41, 'b"/tmp", b"/tmp"'],
  chroot: [161, 51, 'b"/tmp"'],
  open_tree: [428, 428, '-100, b"/", 1'],
  fsopen: [430, 430, 'b"tmpfs", 0'],
  mount_setattr: [442, 442, '-100, b"/", 0, buffer, 32'],
  "unshare a user name space": [272, 97, "0x10000000"],
  "unshare mounts": [272, 97, "0x20000"],
  setns: [308, 268, "0, 0"],
  clone3: [435, 435, "buffer, 88"],
  "clone a process": [56, 220, "17, 0, 0, 0, 0"],
  "clone a user name space": [56, 220, "0x10000011, 0, 0, 0, 0"],
  "clone with a flag above": [56, 220, "0x100000011, 0, 0, 0, 0"],
  ptrace: [101, 117, "0, 0, 0, 0"],
  "ptrace the server": [101, 117, "0x4206, parent, 0, 0"],
  process_vm_readv: [310, 270, "parent, vector, 1, vector, 1, 0"],
  process_vm_writev: [311, 271, "parent, vector, 1, vector, 1, 0"],
  pidfd_open: [434, 434, "parent, 0"],
  pidfd_getfd: [438, 438, "0, 0, 0"],
  // SCM_RIGHTS: no descriptor is sent into the sandbox or out of it.
  "sendmsg, with a descriptor": [46, 211, "1, vector, 0"],
  "recvmsg, for a descriptor": [47, 212, "0, vector, 0"],
  sendmmsg: [307, 269, "1, vector, 1, 0"],
  recvmmsg: [299, 243, "0, vector, 1, 0, 0"],
  kcmp: [312, 272, "parent, parent, 0, 0, 0"],
  "kill by number": [62, 129, "parent, 9"],
  "kill everyone by number": [62, 129, "-1, 9"],
  "tgkill the server": [234, 131, "parent, parent, 9"],
  rt_sigqueueinfo: [129, 138, "parent, 9, buffer"],
  "limits of the server": [302, 261, "parent, 7, buffer, 0"],
  "affinity of the server": [203, 122, "parent, 8, buffer"],
  keyctl: [250, 219, "0, -3, 1"],
  add_key: [248, 217, 'b"user", b"k", b"v", 1, -3'],
  bpf: [321, 280, "0, buffer, 64"],
  userfaultfd: [323, 282, "0"],
  perf_event_open: [298, 241, "buffer, 0, -1, -1, 0"],
  name_to_handle_at: [303, 264, '-100, b"/usr", buffer, buffer, 0'],
  open_by_handle_at: [304, 265, "-100, buffer, 0"],
  "seccomp, a listener": [317, 277, "1, 8, vector"],
  "seccomp, an answer by the kernel": [317, 277, "2, 0, buffer"],
  "prctl dumpable": [157, 167, "4, 1, 0, 0, 0"],
  "prctl seccomp": [157, 167, "22, 2, vector, 0, 0"],
  "prctl subreaper": [157, 167, "36, 1, 0, 0, 0"],
  "prctl ambient capabilities": [157, 167, "47, 2, 21, 0, 0"],
  "prctl a tracer": [157, 167, "0x59616d61, -1, 0, 0, 0"],
  capset: [126, 91, "buffer, buffer"],
  setuid: [105, 146, "0"],
  setresuid: [117, 147, "0, 0, 0"],
  setgroups: [116, 159, "0, 0"],
  personality: [135, 92, "0x40000"],
  memfd_create: [319, 279, 'b"m", 0'],
  memfd_secret: [447, 447, "0"],
  "socket, netlink": [41, 198, "16, 3, 0"],
  "socket, packets": [41, 198, "17, 3, 0"],
  "socket, vsock": [41, 198, "40, 1, 0"],
  "socket, unix": [41, 198, "1, 1, 0"],
  "socket, xdp": [41, 198, "44, 3, 0"],
  "socketpair, tipc": [53, 199, "30, 1, 0, buffer"],
  shmget: [29, 194, "77, 4096, 0o1666"],
  msgget: [68, 186, "77, 0o1666"],
  semget: [64, 190, "77, 1, 0o1666"],
  mq_open: [240, 180, 'b"q", 0o102, 0o666, 0'],
  io_setup: [206, 0, "8, buffer"],
  fanotify_init: [300, 262, "0, 0"],
  inotify_init1: [294, 26, "0"],
  setxattr: [188, 5, 'b"/tmp", b"user.left", b"x", 1, 0'],
  chown: [260, 54, '-100, b"/tmp", 0, 0, 0'],
  mknod: [259, 33, '-100, b"/tmp/pipe", 0o10666, 0'],
  sethostname: [170, 161, 'b"x", 1'],
  setsid: [112, 157, ""],
  swapon: [167, 224, 'b"/tmp/x", 0'],
  syslog: [103, 116, "3, buffer, 512"],
  modify_ldt: [154, 9999, "0, buffer, 512"],
  iopl: [172, 9999, "3"],
  kexec_load: [246, 104, "0, 0, buffer, 0"],
  finit_module: [313, 273, '0, b"", 0'],
  "reboot, asking": [169, 142, "0xfee1dead, 672274793, 0, 0"],
};

const prelude = `
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
parent = os.getppid()
arm = platform.machine() == "aarch64"
def long(x): return ctypes.c_long(x) if isinstance(x, int) else x
def call(x86, aarch64, *args):
    got = libc.syscall(ctypes.c_long(aarch64 if arm else x86), *map(long, args))
    if got == 0 and (x86 == 56): os._exit(0)
    print("ESCAPED" if got != -1 else "refused", got, ctypes.get_errno())
`;

/** Runs bytes of x86-64 machine code and takes what they give for a system call's answer. */
const machineCode = (bytes: string) => `${prelude}
import mmap, struct
if arm: raise SystemExit
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("${bytes}"))
got = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("ESCAPED" if -4096 > got or got >= 0 else "refused", got)`;

/**
 * Attempts that go around Python, by system calls and machine code, or that use up the machine.
 *
 * Where the sandbox fails, an attempt must not harm the machine it is tried on: it opens, or changes a thing
 * into what it is, and says `ESCAPED`.
 */
export function kernelEscapes({ secretFile, markerFile, socketFile, pid }: Targets) {
  const [secret, marker, socket] = [secretFile, markerFile, socketFile].map((path) =>
    JSON.stringify(path),
  ) as [string, string, string];
  const attempts: Record<string, string> = {
    "terminal input": `import fcntl\nfor fd in (0, 1, 2):\n  try: print("ESCAPED", fcntl.ioctl(fd, 0x5412, b"x"))\n  except OSError: pass`,
    "terminal input by a longer number": `${prelude}\ncall(16, 29, 0, 0x100005412, buffer)`,
    "a Linux console's ioctl": `import fcntl\nfor fd in (0, 1, 2):\n  try: print("ESCAPED", fcntl.ioctl(fd, 0x541c, b"\\x03"))\n  except OSError: pass`,
    "signals by a descriptor's owner": `import fcntl, os\nr, w = os.pipe()\nfcntl.fcntl(r, 8, os.getppid())\nprint("ESCAPED")`,
    "a lease": `import fcntl, os\nfcntl.fcntl(os.open("/tmp/x", os.O_CREAT | os.O_RDONLY), 1024, 0)\nprint("ESCAPED")`,
    "a signal to a process outside": `import os\nos.kill(${pid}, 9)`,
    "delete outside": `import os\nos.unlink(${secret})`,
    "truncate outside": `import os\nos.truncate(${secret}, 0)`,
    "open to truncate": `open(${secret}, "w")`,
    "rename outside": `import os\nos.rename(${secret}, ${marker})`,
    "link outside": `import os\nos.link(${secret}, ${marker})`,
    "chmod outside": `import os\nos.chmod(${secret}, 0o777)`,
    "chmod of a device": `import os\nos.chmod("/dev/null", 0o666)\nprint("ESCAPED")`,
    "rename a device": `import os\nos.rename("/dev/null", "/dev/null")\nprint("ESCAPED")`,
    "write into the interpreter": `import os\nopen(os.__file__, "a").write("")\nprint("ESCAPED")`,
    "rename in the interpreter": `import os\nos.rename(os.__file__, os.__file__)\nprint("ESCAPED")`,
    "memory through proc": `open("/proc/self/mem", "r+b").read(1)\nprint("ESCAPED")`,
    "memory of the server": `import os\nopen(f"/proc/{os.getppid()}/mem", "r+b").read(1)\nprint("ESCAPED")`,
    "roots through proc": `import os, glob\nfor p in glob.glob("/proc/*/root") + glob.glob("/proc/*/cwd"): print(open(p + ${secret}).read())`,
    "maps of ids": `open("/proc/self/uid_map", "w").write("0 0 1")\nprint("ESCAPED")`,
    "the kernel's own settings": `open("/proc/sys/kernel/core_pattern", "r+")\nprint("ESCAPED")`,
    "control groups": `import os\nos.mkdir("/sys/fs/cgroup/x")\nprint("ESCAPED")`,
    "memfd and exec": `import os\nfd = os.memfd_create("m")\nos.write(fd, open("/bin/touch", "rb").read())\nos.execve(fd, ["touch", ${marker}], {})`,
    "exec what it wrote": `import os\nopen("/tmp/run", "w").write("#!/bin/sh\\ntouch " + ${marker})\nos.chmod("/tmp/run", 0o755)\nos.execv("/tmp/run", ["run"])`,
    "an abstract socket": `import socket\nsocket.socket(socket.AF_UNIX).connect("\\0" + ${socket})`,
    "a socket's file": `import socket\nsocket.socket(socket.AF_UNIX).connect(${socket})`,
    "a datagram to a socket's file": `import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", ${socket})`,
    "32-bit calls": machineCode("b814000000cd80c3"), // mov eax, 20 (getpid); int 0x80; ret
    "x32's calls": machineCode("b8270000400f05c3"), // mov eax, 0x40000027 (getpid); syscall; ret
    "a core file": `import os, faulthandler, resource\nos.chdir("/tmp")\nresource.setrlimit(resource.RLIMIT_CORE, (-1, -1))\nprint("ESCAPED")`,
    "higher limits": `import resource\nfor name in ("AS", "NPROC", "NOFILE", "FSIZE"):\n  resource.setrlimit(getattr(resource, "RLIMIT_" + name), (-1, -1))\n  print("ESCAPED")`,
    "descriptors of the tool": `import os\nfor fd in range(3, 4096):\n  try: print("ESCAPED" * bool(os.fstat(fd)), fd)\n  except OSError: pass`,
    // leftovers and resources
    "a disk full of files": `import os\nfor i in range(40):\n  with open(f"/tmp/{i}", "wb") as f:\n    for _ in range(10): f.write(b"x" * 10**6)\nprint("ESCAPED")`,
    "memory in another folder": `import os\nfor d in ("/dev/shm", "/dev", "/", "/run", "/var/tmp", "/root", "/etc"):\n  try: open(d + "/left", "w").write("x")\n  except OSError: continue\n  print("ESCAPED", d)`,
    "a closed folder left": `import os\nos.makedirs("/tmp/a/b")\nos.chmod("/tmp/a/b", 0)\nos.chmod("/tmp/a", 0)`,
    "a closed /tmp left": `import os\nos.chmod("/tmp", 0)`,
    "a deep folder left": `import os\nfor i in range(3000):\n  os.mkdir("d")\n  os.chdir("d")`,
    "many files left": `for i in range(20000): open(f"/tmp/{i}", "w").close()`,
    "odd names left": `import os\nopen(b"/tmp/\\xff\\n", "w").close()\nos.symlink("/tmp", "/tmp/loop")`,
    "a pipe left": `import os\nos.mkfifo("/tmp/fifo")\nopen("/tmp/fifo")`,
    "read its own pipe": `import os\nos.read(os.pipe()[0], 1)`,
    "wait in many threads": `import threading\nfor _ in range(50): threading.Thread(target=threading.Event().wait).start()`,
    "ignore every signal": `import signal\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass`,
    "output from many threads": `import os, threading\ndef f():\n  while True: os.write(1, b"x" * 65536)\nfor _ in range(8): threading.Thread(target=f).start()`,
    "raw threads": `import _thread, time\n_thread.stack_size(32768)\nn = 0\ntry:\n  while n < 5000: _thread.start_new_thread(time.sleep, (9,)); n += 1\nexcept RuntimeError: pass\nif n > 300: print("ESCAPED", n)`,
    "shared memory bomb": `import mmap\nx = [mmap.mmap(-1, 10**7) for _ in range(1000)]\nfor m in x: m.write(b"x" * 10**7)`,
    "pipes full": `import os, fcntl\nfor _ in range(10000):\n  r, w = os.pipe()\n  os.write(w, b"x" * 65536)`,
    "many descriptors": `import os\nn = 0\ntry:\n  while n < 5000: os.open("/dev/null", 0); n += 1\nexcept OSError: pass\nif n > 4200: print("ESCAPED", n)`,
  };
  for (const [name, [x86, aarch64, args = ""]] of Object.entries(direct)) {
    attempts[`${name} by number`] = `${prelude}\ncall(${x86}, ${aarch64}, ${args})`;
  }
  // Pyodide has no kernel to ask and a file system of its own: there only what it did outside counts.
  const quiet = `import sys\nif sys.platform == "emscripten": print = lambda *_: None\n`;
  return Object.fromEntries(Object.entries(attempts).map(([name, code]) => [name, quiet + code]));
}
