/**
 * Run once inside Pyodide, before the first call: takes away the doors to JavaScript and gives asyncio
 * a loop that needs no browser.
 *
 * None of this is the sandbox. The sandbox is the process: no code from strings, no Node globals, no file
 * writes, no child processes. This makes it harder to reach its boundary.
 */
export const harden = String.raw`
def arpo_harden():
    import gc, sys, selectors, time, types
    import asyncio
    import pyodide.webloop

    # Pyodide replaced these by ones that need a browser.
    asyncio.run = asyncio.runners.run = pyodide.webloop._orig_run
    time.sleep = pyodide.webloop._orig_sleep
    asyncio.events._set_event_loop_policy(None)
    asyncio.events._set_running_loop(None)

    class Idle(selectors._BaseSelectorImpl):
        def select(self, timeout=None):
            if timeout is None:
                raise RuntimeError("Every task waits for something outside: nothing can wake this loop")
            if timeout > 0:
                time.sleep(timeout)
            return []

    class Loop(asyncio.SelectorEventLoop):
        def __init__(self):
            super().__init__(Idle())
        def _make_self_pipe(self):
            self._ssock = self._csock = None
        def _close_self_pipe(self):
            pass
        def _write_to_self(self):
            pass

    Loop.__name__ = Loop.__qualname__ = "EventLoop"
    asyncio.EventLoop = asyncio.SelectorEventLoop = asyncio.new_event_loop = Loop
    asyncio.events.new_event_loop = asyncio.runners.events.new_event_loop = Loop

    forbidden = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core", "_ctypes", "ctypes",
                 "_remote_debugging", "_testcapi", "_testinternalcapi", "_testlimitedcapi",
                 "_testclinic", "_testclinic_limited", "_testbuffer", "_xxtestfuzz", "xxsubtype",
                 "_posixsubprocess", "_socket", "socket", "ssl", "_ssl", "mmap")
    kept = ("_socket", "socket", "ssl", "_ssl", "_posixsubprocess", "mmap")
    sys.meta_path[:] = [f for f in sys.meta_path
                        if (f if isinstance(f, type) else type(f)).__module__ != "_pyodide._importhook"]
    doomed = [m for n, m in list(sys.modules.items()) if n.split(".")[0] in forbidden and n.split(".")[0] not in kept]
    for name in [n for n in sys.modules if n.split(".")[0] in forbidden and n.split(".")[0] not in kept]:
        del sys.modules[name]
    for module in doomed:
        if isinstance(module, types.ModuleType):
            vars(module).clear()
    doomed.clear()
    # A built-in module is also kept as a copy from which it can be made again.
    for copy in gc.get_objects():
        if type(copy) is dict and "to_js" in copy and "trigger_fatal_error" in copy:
            copy.clear()
    # The finder of JavaScript modules, and the loaders in their specifications, hold the bridge's ends.
    for held in gc.get_objects():
        if not isinstance(held, type) and type(held).__module__.partition(".")[0] in ("_pyodide", "pyodide"):
            for value in vars(held).values() if hasattr(held, "__dict__") else ():
                if isinstance(value, dict):
                    value.clear()
            getattr(held, "__dict__", {}).clear()
    copy = held = value = None
    import _imp
    def create_dynamic(spec, file=None):
        raise ImportError("Cannot load a shared library: this sandbox has no linker", name=spec.name)
    create_dynamic.__module__ = "_imp"
    create_dynamic.__qualname__ = "create_dynamic"
    _imp.create_dynamic = _imp.exec_dynamic = create_dynamic
    main = sys.modules["__main__"]
    for name in list(vars(main)):
        if name not in ("__name__", "__doc__", "__builtins__", "__loader__", "__spec__", "arpo_run", "arpo_preprocess"):
            delattr(main, name)
    import os
    for name in [n for n in os.environ if n not in ("HOME", "LANG")]:
        del os.environ[name]
    os.environ["PATH"] = "/usr/bin:/bin"
    sys.path[:] = [""] + [p for p in sys.path if p]
    sys.last_exc = sys.last_value = sys.last_type = sys.last_traceback = None
    del sys.last_exc, sys.last_value, sys.last_type, sys.last_traceback
    gc.collect()
    gc.freeze()
`;

/** What much code imports. It is loaded before the first call, so that every call finds the same interpreter. */
export const commonImports =
  "import datetime, decimal, fractions, heapq, itertools, json, math, random, re, statistics, string";

/**
 * What is struck from the interpreter's static tables, so that nothing can make it again: built-in
 * modules, and the functions of `_imp` that reach the linker.
 */
export const struckNames = [
  "create_dynamic",
  "exec_dynamic",
  "_pyodide_core",
  "_ctypes",
  "_remote_debugging",
  "_testcapi",
  "_testinternalcapi",
  "_testlimitedcapi",
  "_testclinic",
  "_testclinic_limited",
  "_testbuffer",
  "_xxtestfuzz",
  "xxsubtype",
  "mmap",
];
