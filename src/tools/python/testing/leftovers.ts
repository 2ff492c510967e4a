// What a call may leave behind for the next one, and a look at everything that would show it. Test material.
import assert from "node:assert/strict";
import type { PythonPool } from "../python-pool.js";

/** Prints what code can see of its interpreter. The numbers of processes and pipes are the machine's and left out. */
export const look = `
import os, sys, signal, threading, warnings, time, gc, locale, decimal, random, hashlib
def told(ask):
    try:
        return ask()
    except Exception as error:
        return repr(error)
def one(path):
    s = os.lstat(path)
    return path, s.st_ino, s.st_mode, s.st_nlink, s.st_size, s.st_mtime_ns, s.st_ctime_ns
def tree(path, depth):
    found = [one(path)]
    for name in sorted(told(lambda: os.listdir(path))) if depth and os.path.isdir(path) else ():
        if not os.path.islink(path):
            found += told(lambda: tree(os.path.join(path, name), depth - 1))
    return found
def descriptor(fd):
    s = os.fstat(fd)
    return fd, s.st_mode, os.isatty(fd), told(lambda: os.lseek(fd, 0, 1)), told(lambda: __import__("fcntl").fcntl(fd, 3))
seen = [
    [told(lambda: descriptor(fd)) for fd in range(24)],
    tree("/tmp", 3), told(lambda: tree("/home", 3)), tree("/dev", 1), tree("/lib", 1) if sys.platform == "emscripten" else [],
    sorted(os.environ.items()), os.getcwd(), os.umask(0o22), time.tzname, told(lambda: locale.setlocale(locale.LC_ALL)),
    sorted(sys.modules), sys.path, sys.argv, sys.flags, sys.getrecursionlimit(), sys.getswitchinterval(),
    [(s, str(signal.getsignal(s))) for s in sorted(signal.valid_signals())],
    [t.name for t in threading.enumerate()], [str(w) for w in warnings.filters], str(decimal.getcontext()),
    gc.isenabled(), gc.get_threshold(), sys.gettrace(), sys.getprofile(), sorted(dir(__builtins__)), len(repr(vars(os))),
    told(lambda: os.statvfs("/tmp").f_ffree), told(lambda: os.getpriority(0, 0)), told(lambda: os.get_terminal_size(1)),
]
open("/tmp/new", "w").close()
seen.append(one("/tmp/new")[1])
if sys.platform == "emscripten":
    seen.append(hashlib.sha256(repr(random.getstate()).encode()).hexdigest())
print(seen)
`;

/** Calls that change something, by what they change. */
export const leftovers: Record<string, string> = {
  "standard output closed": `import os\nos.close(1)`,
  "standard output over a file": `import os\nos.dup2(os.open("/tmp/f", os.O_CREAT | os.O_WRONLY), 1)`,
  "standard output over standard error": `import os\nos.dup2(2, 1)`,
  "standard error closed": `import os\nos.close(2)\n1 / 0`,
  "standard input over nothing": `import os\nos.dup2(os.open("/dev/null", 0), 0)`,
  "descriptors 0 to 19 closed": `import os\nfor fd in range(20):\n  try: os.close(fd)\n  except OSError: pass`,
  "all descriptors closed": `import os\nos.closerange(0, 1000)`,
  "many descriptors open": `import os\nx = [os.open("/dev/null", 0) for _ in range(40)]`,
  "descriptors that do not block": `import os\nfor fd in range(3): os.set_blocking(fd, False)`,
  "the place in standard input": `import os\nos.lseek(0, 5, 0)`,
  "streams closed": `import sys\nsys.stdin.close(); sys.stdout.close(); sys.stderr.close()`,
  "a text in times": `import os\ntext = int.from_bytes(b"secret!", "big")\nfor p in ("/tmp", "/home", "/dev/null", "/lib", "/"):\n  try: os.utime(p, ns=(text, text))\n  except OSError: pass`,
  "times of reading": `import os\n[os.listdir(p) for p in ("/", "/tmp", "/dev")]`,
  "a file that is gone": `import os\nopen("/tmp/f", "w").write("x" * 5000)\nos.remove("/tmp/f")`,
  "a hundred files that are gone": `import os\nfor n in range(100):\n  open(f"/tmp/{n}", "w").close(); os.remove(f"/tmp/{n}")`,
  "files without names": `import os\nfor n in range(100):\n  try: os.close(os.open("/tmp", os.O_TMPFILE | os.O_RDWR))\n  except (OSError, AttributeError): pass`,
  "folders, links and modes": `import os\nos.makedirs("/tmp/a/b/c"); os.symlink("/tmp/a", "/tmp/l"); os.chmod("/tmp", 0o700)`,
  "names moved": `import os\nfor a, b in (("/home", "/hidden"), ("/dev/null", "/dev/nothing"), ("/tmp", "/temp")):\n  try: os.rename(a, b)\n  except OSError: pass`,
  pipes: `import os\nx = [os.pipe() for _ in range(7)]`,
  "names that were looked up": `import socket\ntry: socket.gethostbyname("a.secret")\nexcept OSError: pass`,
  sockets: `import socket\nfor n in range(3):\n  try: socket.socket()\n  except OSError: pass`,
  threads: `import threading\nfor n in range(20):\n  try: threading.Thread(target=print).start()\n  except RuntimeError: pass`,
  "environment, folder, mask and zone": `import os, time\nos.environ["TZ"] = "Asia/Tokyo"\nos.environ["S"] = "secret"\nos.putenv("T", "x")\nos.chdir("/"); os.umask(0)\ntime.tzset()`,
  "signals and timers": `import signal\nfor s in signal.valid_signals():\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nif hasattr(signal, "alarm"): signal.alarm(1)`,
  settings: `import sys, warnings, gc, locale, decimal, random\nsys.setrecursionlimit(200); sys.setswitchinterval(1); sys.settrace(lambda *a: None); sys.path.insert(0, "/tmp")\nwarnings.simplefilter("error"); gc.disable(); gc.set_threshold(1); decimal.getcontext().prec = 3; random.seed(1)\nlocale.setlocale(locale.LC_ALL, "C")`,
  "modules and built-ins": `import builtins, sys, os, json\nbuiltins.open = None; sys.modules["json"] = None; os.getcwd = None; builtins.secret = 1; json.dumps = None`,
  "an exit by force": `import os\nos._exit(7)`,
  "an abort": `import os\nos.abort()`,
  "a stack without end": `import sys\nsys.setrecursionlimit(10**8)\ndef f(): f()\nf()`,
  "memory filled": `x = bytearray(80 << 20)`,
};

/** Pyodide cannot put these back, or breaks: its interpreter is replaced, which takes seconds. */
export const costly: readonly string[] = Object.keys(leftovers).filter((name) =>
  /pipes|sockets|looked up|exit|abort|without end|memory/.test(name),
);

/** Looks before and after every call: it sees the same, or is in another interpreter. */
export async function leavesNothing(
  pool: Pick<PythonPool, "run"> & { readonly pids?: readonly number[] },
  names: readonly string[],
  dress = (code: string) => code,
): Promise<void> {
  await pool.run("None");
  let seen = await pool.run(look);
  assert.ok(seen.ok, seen.text);
  for (const name of names) {
    const interpreter = String(pool.pids);
    await pool.run(dress(leftovers[name]!));
    const now = await pool.run(look);
    assert.ok(now.ok, `${name}: ${now.text}`);
    // Another interpreter has times of its own.
    if (String(pool.pids) === interpreter) assert.equal(now.text, seen.text, name);
    seen = now;
  }
}
