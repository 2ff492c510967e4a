import { harden, commonImports } from "./harden.js";
import { harness } from "./harness.js";

const imported = [harness, harden, commonImports].flatMap((text) =>
  [...text.matchAll(/^\s*import ([a-z_.]+(?:, [a-z_.]+)*)$/gm)].flatMap(([, names]) =>
    names!.split(", "),
  ),
);

// Never checked against its source: that stands beside it in the same file.
/** Packs the library with the modules that our own Python imports compiled into `/tmp/library.zip`. */
export const packing = String.raw`
import ${[...new Set(imported)].join(", ")}
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
pack("/tmp/library.zip")
`;
