/** Attempts on what Pyodide's own sandbox is made of: its bridge to JavaScript and its linker. */
export function pyodideEscapes(): Record<string, string> {
  const spec = "import _imp, importlib.machinery as m, importlib.util as u, sys\n";
  // A WebAssembly module with a dylink section: what the linker would take.
  const library = `open("/tmp/x.so", "wb").write(bytes.fromhex("0061736d01000000000f0864796c696e6b2e30010400000000"))\n`;
  const loader = `${spec}${library}l = m.ExtensionFileLoader("x", "/tmp/x.so")\ns = u.spec_from_file_location("x", "/tmp/x.so", loader=l)\n`;
  const reached = `print("ESCAPED: the linker answered")`;
  const ifLinked = (attempt: string) =>
    `${loader}try:\n  ${attempt}\n  ${reached}\nexcept ImportError as e:\n  if "dynamic lib" in str(e) or "PyInit" in str(e): ${reached}\n  raise`;
  const builtin = (name: string) =>
    `${spec}c = _imp.create_builtin(m.ModuleSpec(${name}, None))\nif [n for n in dir(c) if not n.startswith("__")]: print("ESCAPED", dir(c))`;
  const struck = [
    "_ctypes",
    "_pyodide_core",
    "_testcapi",
    "_testinternalcapi",
    "_remote_debugging",
  ];
  const only = `import sys\nif sys.platform != "emscripten": raise SystemExit\n`;
  const attempts: Record<string, string> = {
    "the linker by _imp": ifLinked("_imp.create_dynamic(s)"),
    "the linker by a loader": ifLinked("l.create_module(s)"),
    "the linker by import": ifLinked("sys.path.insert(0, '/tmp'); import x"),
    "the linker by _imp made again": ifLinked(
      `_imp.create_builtin(m.ModuleSpec("_imp", None)).create_dynamic(s)`,
    ),
    "the linker by its struck name": ifLinked(
      `i = _imp.create_builtin(m.ModuleSpec("_imp", None)); getattr(i, [n for n in dir(i) if n.endswith("reate_dynamic")][0])(s)`,
    ),
    "the linker by gc": ifLinked(
      `import gc; gc.unfreeze(); [f for f in gc.get_objects() if type(f) is type(len) and f.__name__.endswith("reate_dynamic")][0](s)`,
    ),
    "the linker out of a zip": `${spec}${library}import zipfile\nzipfile.ZipFile("/tmp/z.zip", "w").write("/tmp/x.so", "x.so")\nsys.path.insert(0, "/tmp/z.zip")\nimport x\n${reached}`,
    "bridge modules left": `${only}left = [n for n in sys.modules if n.split(".")[0] in ("js", "pyodide", "_pyodide", "pyodide_js", "_pyodide_core", "_ctypes", "ctypes")]\nif left: print("ESCAPED", left)`,
    "bridge objects left": `${only}import gc\ngc.unfreeze()\nfound = [r for o in gc.get_objects() for r in gc.get_referents(o) if type(r).__name__.startswith(("Js", "_Js")) and not isinstance(r, type) and (not hasattr(r, "__dict__") or vars(r)) and repr(r) != "jsnull" and "Js2Py" not in type(r).__name__]\nif found: print("ESCAPED", [type(o) for o in found])`,
    "a proxy by its class": `${only}import gc\ngc.unfreeze()\nfor c in [o for o in gc.get_objects() if isinstance(o, type) and "Js" in o.__name__]:\n  try: print("ESCAPED", c().constructor)\n  except BaseException: pass`,
  };
  for (const name of struck) {
    for (const first of ["_", "!", "\\xff", "\\udcff", "?"]) {
      attempts[`${name} made as ${first}`] = `${only}${builtin(`"${first}${name.slice(1)}"`)}`;
    }
  }
  return attempts;
}
