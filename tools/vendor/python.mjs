// How Python's library is packed for the Python tool: Pyodide's own zip has sources alone, so that every interpreter
// compiles a hundred modules when it starts, most of its start. The pack has them compiled beside their sources.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";

/** The modules that our own Python imports, as it stands in a source of the tool. */
const importedIn = (name) =>
  [
    ...readFileSync(
      fileURLToPath(new URL(`../../src/tools/python/${name}`, import.meta.url)),
      "utf8",
    ).matchAll(/^\s*"?import ([a-z_.]+(?:, [a-z_.]+)*)"?;?$/gm),
  ].flatMap(([, names]) => names.split(", "));

// Never checked against its source: that stands beside it in the same file.
const pack = String.raw`
def pack(out):
    import importlib, importlib.util, sys, zipfile
    from importlib._bootstrap_external import _code_to_hash_pyc
    archive = next(path for path in sys.path if path.endswith(".zip"))
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
        start = archive + "/"
        for name in sorted({m.__file__ for m in list(sys.modules.values()) if (getattr(m, "__file__", None) or "").startswith(start)}):
            source = old.read(name[len(start):])
            code = compile(source, name, "exec", dont_inherit=True)
            data = _code_to_hash_pyc(code, importlib.util.source_hash(source), False)
            entry = zipfile.ZipInfo(name[len(start):] + "c", (1980, 1, 1, 0, 0, 0))
            new.writestr(entry, bytes(data))
`;

/** Packs Python's library into `outfile`. */
export async function packPython(outfile) {
  const python = await loadPyodide();
  const names = ["harness.ts", "harden.ts"].flatMap(importedIn);
  for (const name of new Set(names)) python.runPython(`import ${name}`);
  python.runPython(`${pack}\npack("/tmp/library.zip")`);
  mkdirSync(dirname(outfile), { recursive: true });
  writeFileSync(outfile, python.FS.readFile("/tmp/library.zip"));
}
