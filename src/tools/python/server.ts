/**
 * The fork server for a CPython of the machine: it stays warm and forks one child per call, so
 * nothing of a call survives it. After a call that changed /tmp or started threads, which would show the next one in
 * names, times or numbers, it retires with its whole sandbox. It speaks the same lines as the Pyodide worker.
 *
 * Every child gets resource limits and, on Linux, a filter that lets only harmless system calls
 * through (system-calls.ts): no new processes or programs, no sockets to anybody, no signals to others.
 * The sandbox that the server itself was started in isolates the file system and the network.
 */
export const server = String.raw`
import base64, ctypes, json, os, resource, select, signal, sys, time

SETTINGS = json.loads(sys.argv[1])
os.closerange(3, 1 << 16)
if SETTINGS["sandboxed"] and os.getuid() == 0:
    os.setgroups([])
    os.setresgid(*[SETTINGS["nobody"]] * 3)
    os.setresuid(*[SETTINGS["nobody"]] * 3)
requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
replies = os.dup(1)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1):
    os.dup2(null, fd)

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

libc = ctypes.CDLL(None, use_errno=True)
code = base64.b64decode(SETTINGS["filter"] or "")
program = Program(len(code) // 8, code)

def filter_calls():
    """Lets only harmless system calls through from here on; false where that did not work."""
    return not code or (libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0)

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
    if not filter_calls():
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(arpo_run(request["code"]))

def sweep(pid):
    """Ends what a call left running; whether all is as it was before the call."""
    if not SETTINGS["sandboxed"]:
        return True
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if os.stat("/tmp") != before:
        return False
    # Threads take numbers of processes: the next one shows whether there were any.
    following = os.fork()
    if following == 0:
        os._exit(0)
    os.waitpid(following, 0)
    return following == pid + 1

def holds():
    """Whether a process can be filtered, tried once before the first call."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if filter_calls() else 1)
    return os.waitpid(pid, 0)[1] == 0

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
    swept = sweep(pid)
    crashed = not late and os.WIFSIGNALED(status)
    return {"id": request["id"], "late": late, "crashed": crashed, "retiring": not swept,
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
import ast, collections, datetime, decimal, fractions, functools, heapq, itertools, math, platform, random, re, statistics, string, traceback
platform.machine()
os.listdir("/tmp")
before = os.stat("/tmp")
if not holds():
    sys.exit("system calls cannot be filtered here")
send({"ready": True, "version": sys.version.split()[0]})
for line in requests:
    request = json.loads(line)
    if request["kind"] == "preprocess":
        send({"id": request["id"], "text": arpo_preprocess(request["code"])})
    else:
        send(run(request))
`;
