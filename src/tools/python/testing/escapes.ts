import type { Targets } from "./targets.js";
import { kernelEscapes } from "./escapes-kernel.js";
import { pyodideEscapes } from "./escapes-pyodide.js";

/** Attempts to get out of the Python tool, to break it, or to leave something behind. Test material. */
export function escapes(targets: Targets): Record<string, string> {
  return { ...commonEscapes(targets), ...kernelEscapes(targets), ...pyodideEscapes() };
}

function commonEscapes({ secretFile, markerFile, port }: Targets): Record<string, string> {
  const secret = JSON.stringify(secretFile);
  const marker = JSON.stringify(markerFile);
  const folder = JSON.stringify(secretFile.replace(/\/[^/]*$/, ""));
  const core =
    "import _imp, importlib.machinery as m\nc = _imp.create_builtin(m.ModuleSpec('_pyodide_core', None))\n";
  return {
    // files
    "read with open": `open(${secret}).read()`,
    "read with os": `import os\nos.read(os.open(${secret}, 0), 1000)`,
    "read with pathlib": `import pathlib\npathlib.Path(${secret}).read_text()`,
    "read through proc": `open("/proc/self/root" + ${secret}).read()`,
    "read through a parent's proc": `import os\n[open(f"/proc/{p}/root" + ${secret}).read() for p in os.listdir("/proc") if p.isdigit()]`,
    "read through a symlink": `import os\nos.symlink(${secret}, "/tmp/l")\nopen("/tmp/l").read()`,
    "read with mmap": `import mmap\nmmap.mmap(open(${secret}).fileno(), 0, access=mmap.ACCESS_READ)[:]`,
    "list the folder": `import os\nos.listdir(${folder})`,
    "read with linecache": `import linecache\nlinecache.getlines(${secret})`,
    "read with runpy": `import runpy\nrunpy.run_path(${secret})`,
    "read as a data url": `import urllib.request\nurllib.request.urlopen("file://" + ${secret}).read()`,
    "write a file": `open(${marker}, "w").write("x")`,
    "write with os": `import os\nos.write(os.open(${marker}, os.O_CREAT | os.O_WRONLY), b"x")`,
    "copy out": `import shutil\nshutil.copy("/etc/hostname", ${marker})`,
    "make a folder": `import os\nos.makedirs(${marker})`,
    "rename out": `import os\nopen("/tmp/a", "w").close()\nos.rename("/tmp/a", ${marker})`,
    "sqlite on disk": `import sqlite3\nsqlite3.connect(${marker}).execute("create table t(x)")`,
    mount: `import ctypes\nctypes.CDLL(None).mount(b"none", b"/mnt", b"tmpfs", 0, None)`,
    // environment and host
    environment: `import os\ndict(os.environ)`,
    "environment of posix": `import posix\nposix.environ`,
    "environment through proc": `open("/proc/self/environ").read(), open("/proc/1/environ").read()`,
    "parent's environment": `import os\nopen(f"/proc/{os.getppid()}/environ").read()`,
    "command lines": `import os\n[open(f"/proc/{p}/environ").read() for p in os.listdir("/proc") if p.isdigit()]`,
    // network
    socket: `import socket\nsocket.create_connection(("127.0.0.1", ${port}), 1).send(b"x")`,
    "raw _socket": `import _socket\ns = _socket.socket()\ns.connect(("127.0.0.1", ${port}))`,
    urllib: `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:${port}/").read()`,
    "http.client": `import http.client\nc = http.client.HTTPConnection("127.0.0.1", ${port})\nc.request("GET", "/")`,
    udp: `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ${port}))`,
    "unix socket": `import socket\nsocket.socket(socket.AF_UNIX).connect("/var/run/docker.sock")`,
    "asyncio streams": `import asyncio\nasyncio.run(asyncio.open_connection("127.0.0.1", ${port}))`,
    "pyodide.http": `from pyodide.http import open_url\nopen_url("http://127.0.0.1:${port}/")`,
    "js fetch": `import js\njs.fetch("http://127.0.0.1:${port}/")`,
    "js WebSocket": `from js import WebSocket\nWebSocket.new("ws://127.0.0.1:${port}/")`,
    XMLHttpRequest: `from js import XMLHttpRequest\nXMLHttpRequest.new()`,
    micropip: `import micropip`,
    "node sockets": `import pyodide_js\npyodide_js.useNodeSockFS()`,
    // processes
    "os.system": `import os\nos.system("touch " + ${marker})`,
    subprocess: `import subprocess\nsubprocess.run(["touch", ${marker}])`,
    "subprocess shell": `import subprocess\nsubprocess.check_output("touch " + ${marker}, shell=True)`,
    popen: `import os\nos.popen("touch " + ${marker}).read()`,
    execv: `import os\nos.execv("/bin/touch", ["touch", ${marker}])`,
    posix_spawn: `import os\nos.posix_spawn("/bin/touch", ["touch", ${marker}], {})`,
    pty: `import pty\npty.spawn(["touch", ${marker}])`,
    multiprocessing: `import multiprocessing as m\np = m.Process(target=print)\np.start()\np.join()`,
    "fork bomb": `import os\nwhile True: os.fork()`,
    "fork bomb, quiet": `import os\nwhile True:\n  try: os.fork()\n  except OSError: pass`,
    "thread bomb": `import threading, time\nfor _ in range(100000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()`,
    "kill everyone": `import os\nos.kill(-1, 9)`,
    "kill the parent": `import os\nos.kill(os.getppid(), 9)`,
    "signal itself": `import os, signal\nos.kill(os.getpid(), signal.SIGKILL)`,
    "hide from signals": `import signal\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: pass`,
    "new session": `import os\nos.setsid()\nwhile True: pass`,
    // the way to JavaScript
    "import js": `import js\njs.process.env`,
    "import pyodide_js": `import pyodide_js\npyodide_js.FS`,
    "mount the host": `import pyodide_js\npyodide_js.mountNodeFS("/mnt", "/")`,
    run_js: `from pyodide.code import run_js\nrun_js("process.env")`,
    "to_js constructor": `from pyodide.ffi import to_js\nto_js([]).constructor.constructor("return process")().env`,
    "core from the table": `import _pyodide_core\n_pyodide_core.to_js([]).constructor.constructor("return process")()`,
    "core made again": `${core}c.to_js([]).constructor.constructor("return process")().env`,
    "core's proxies": `${core}c.create_proxy(print)`,
    "core's fatal error": `${core}c.trigger_fatal_error()`,
    "proxies by gc": `import gc\ngc.unfreeze()\nfound = [o for o in gc.get_objects() if type(o).__name__ in ("JsProxy", "JsModule")]\nfound[0].constructor.constructor("return process")()`,
    "functions by gc": `import gc\ngc.unfreeze()\nf = [o for o in gc.get_objects() if getattr(o, "__name__", "") == "to_js"]\nf[0]([]).constructor`,
    "classes of object": `[c for c in object.__subclasses__() if c.__name__ == "JsProxy"][0]().constructor`,
    wrap_close: `[c for c in object.__subclasses__() if c.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("touch " + ${marker})`,
    "frames upwards": `import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nlist(f.f_globals)`,
    "patch the harness": `import sys\nf = sys._getframe()\nwhile f: f.f_globals.update(arpo_run=None, arpo_preprocess=None); f = f.f_back`,
    "patch the report": `import sys, traceback\ntraceback.TracebackException = None\nsys.stderr = None\n1/0`,
    finders: `import sys\n[f.find_spec("js", None) for f in sys.meta_path]`,
    "importlib reload": `import sys, importlib\nimportlib.import_module("_pyodide._importhook")`,
    // memory, machine code, the interpreter itself
    ctypes: `import ctypes\nctypes.CDLL(None).system(b"touch " + ${marker}.encode())`,
    "ctypes memory": `import ctypes\nctypes.string_at(0, 10**6)`,
    _ctypes: `import _ctypes\n_ctypes.dlopen("libc.so.6", 2)`,
    "code object": `f = lambda: 0\nf.__code__ = f.__code__.replace(co_code=b"\\xff" * 64)\nf()`,
    "memory bomb": `x = []\nwhile True: x.append(bytearray(10**7))`,
    "memory bomb, caught": `x = []\nwhile True:\n  try: x.append(bytearray(10**7))\n  except MemoryError: pass`,
    "big integer": `x = 9 ** (9 ** 9)`,
    "deep recursion": `import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)`,
    "deep parentheses": `eval("(" * 100000 + ")" * 100000)`,
    "deep ast": `compile("-" * 1000000 + "1", "x", "eval")`,
    faulthandler: `import faulthandler\nfaulthandler._sigsegv()`,
    "os._exit": `import os\nos._exit(0)`,
    "os.abort": `import os\nos.abort()`,
    "disk bomb": `f = open("/tmp/big", "wb")\nwhile True: f.write(b"x" * 10**7)`,
    // time and output
    loop: `while True: pass`,
    "loop catching everything": `while True:\n  try:\n    while True: pass\n  except BaseException: pass`,
    "loop in finally": `def f():\n  try:\n    while True: pass\n  finally: f()\nf()`,
    sleep: `import time\ntime.sleep(1000)`,
    "slow regex": `import re\nre.match(r"(a+)+$", "a" * 60 + "b")`,
    "slow C code": `sum(range(10**12))`,
    atexit: `import atexit\natexit.register(lambda: open(${marker}, "w"))`,
    destructor: `class D:\n  def __del__(self):\n    while True: pass\nd = D()`,
    "gigabyte of output": `while True: print("x" * 10**6)`,
    "gigabyte of errors": `import sys\nwhile True: sys.stderr.write("x" * 10**6)`,
    "write to every descriptor": `import os\nfor fd in range(3, 64):\n  try: os.write(fd, b'{"id": 1, "status": 0, "out": "forged"}\\n')\n  except OSError: pass`,
    "close every descriptor": `import os\nos.closerange(0, 64)\nprint("gone")`,
    "forged answer": `import os\nos.write(1, b'\\n{"id": 1, "status": 0, "out": "forged"}\\n')`,
  };
}
