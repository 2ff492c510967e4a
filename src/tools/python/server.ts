/**
 * The fork server for a CPython of the machine: it stays warm and forks one child per call, so
 * nothing of a call survives it. It speaks the same lines as the Pyodide worker.
 *
 * Every child gets resource limits and, on Linux, a system-call filter that refuses new processes,
 * new programs, sockets and tracing. Walls around the file system and the network come from the
 * sandbox the server itself was started in.
 */
export const server = String.raw`
import json, os, resource, select, shutil, signal, struct, sys, time

SETTINGS = json.loads(sys.argv[1])
requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
replies = os.dup(1)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1):
    os.dup2(null, fd)

def filter_calls():
    import ctypes, platform
    # Numbers of: ptrace, fork, vfork, execve, execveat, socket, bpf, unshare, setns, mount,
    # process_vm_readv, process_vm_writev, kill, tkill, tgkill, clone, clone3
    numbers = {
        "x86_64": (0xC000003E, [101, 57, 58, 59, 322, 41, 321, 272, 308, 165, 310, 311, 62, 200, 234], 56, 435),
        "aarch64": (0xC00000B7, [117, 221, 281, 198, 280, 97, 268, 40, 270, 271, 129, 130, 131], 220, 435),
    }.get(platform.machine())
    if numbers is None:
        return False
    arch, refused, clone, clone3 = numbers
    EPERM, ENOSYS, ALLOW, ERRNO, KILL = 1, 38, 0x7FFF0000, 0x00050000, 0x80000000
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, arch), (0x06, 0, 0, KILL), (0x20, 0, 0, 0)]
    if platform.machine() == "x86_64":
        code += [(0x35, 0, 1, 0x40000000), (0x06, 0, 0, KILL)]
    for number in refused:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, ERRNO | EPERM)]
    # glibc falls back from clone3 to clone, whose flags can be read: threads yes, processes no.
    code += [(0x15, 0, 1, clone3), (0x06, 0, 0, ERRNO | ENOSYS)]
    code += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 1, 0, 0x10000), (0x06, 0, 0, ERRNO | EPERM)]
    code += [(0x06, 0, 0, ALLOW)]
    data = b"".join(struct.pack("HBBI", *line) for line in code)
    buffer = ctypes.create_string_buffer(data, len(data))
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    program = Program(len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    return libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0

def limit(seconds):
    for name, value in (("AS", SETTINGS["memoryBytes"]), ("CPU", int(seconds) + 2), ("CORE", 0),
                        ("FSIZE", SETTINGS["fileBytes"]), ("NOFILE", 64), ("NPROC", 256)):
        number = getattr(resource, "RLIMIT_" + name, None)
        if number is not None:
            try:
                resource.setrlimit(number, (value, value))
            except (ValueError, OSError):
                pass

class Stream:
    def __init__(self, limit):
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self.limit, self.total, self.kept, self.chunks = limit, 0, 0, []
    def take(self):
        while True:
            try:
                data = os.read(self.read_end, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.total += len(data)
            part = data[:max(0, self.limit - self.kept)]
            self.kept += len(part)
            if part:
                self.chunks.append(part)
    def text(self):
        return b"".join(self.chunks).decode("utf-8", "replace")

def child(request, out, err):
    os.setsid()
    os.dup2(out.write_end, 1)
    os.dup2(err.write_end, 2)
    os.closerange(3, 1024)
    limit(request["timeoutMs"] / 1000)
    sys.stdin = open(0, "r", encoding="utf-8")
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    if not filter_calls() and SETTINGS["filter"]:
        os._exit(119)
    os._exit(arpo_run(request["code"]))

def sweep():
    if SETTINGS["ownProcesses"]:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if SETTINGS["ownTmp"]:
        for name in os.listdir("/tmp"):
            path = os.path.join("/tmp", name)
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

def run(request):
    out, err = Stream(request["outputBytes"]), Stream(request["outputBytes"])
    deadline = time.monotonic() + request["timeoutMs"] / 1000
    pid = os.fork()
    if pid == 0:
        try:
            child(request, out, err)
        finally:
            os._exit(121)
    os.close(out.write_end)
    os.close(err.write_end)
    open_streams, status, late = {out.read_end: out, err.read_end: err}, None, False
    while status is None:
        left = deadline - time.monotonic()
        if left <= 0:
            late = True
            os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            break
        if open_streams:
            for fd in select.select(list(open_streams), [], [], min(left, 0.05))[0]:
                if not open_streams[fd].take():
                    del open_streams[fd]
            done, code = os.waitpid(pid, os.WNOHANG)
        else:
            done, code = os.waitpid(pid, os.WNOHANG)
            if not done:
                time.sleep(min(left, 0.0005))
        if done:
            status = code
    for stream in open_streams.values():
        stream.take()
    os.close(out.read_end)
    os.close(err.read_end)
    sweep()
    crashed = not late and os.WIFSIGNALED(status)
    return {"id": request["id"], "late": late, "crashed": crashed,
            "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "out": out.text(), "outTotal": out.total, "err": err.text(), "errTotal": err.total}

def send(message):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[os.write(replies, data):]

exec(compile(SETTINGS.pop("harness"), "<harness>", "exec"))
sys.argv = ["-c"]
sys.path[:] = [""] + [p for p in sys.path if p]
for name in SETTINGS["preload"]:
    try:
        __import__(name)
    except ImportError:
        pass
import ast, collections, ctypes, datetime, decimal, fractions, functools, heapq, itertools, math, platform, random, re, statistics, string, traceback
platform.machine()
send({"ready": True, "version": sys.version.split()[0]})
for line in requests:
    request = json.loads(line)
    if request["kind"] == "preprocess":
        send({"id": request["id"], "text": arpo_preprocess(request["code"])})
    else:
        send(run(request))
`;
