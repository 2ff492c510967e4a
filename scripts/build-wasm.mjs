// Builds native/arpo.wasm, the engine for machines without a compiler, from the same sources as the
// addon. Needs clang and wasm-ld, nothing else. `--check` builds aside and compares with the file in
// the repository: equal bytes where the compiler is the one that made it.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const native = fileURLToPath(new URL("../native", import.meta.url));
const target = join(native, "arpo.wasm");
const check = process.argv.includes("--check");

const works = (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
const clang = [process.env.WASM_CXX, "clang++", "clang++-14"].find((c) => c && works(c));
const linker = [process.env.WASM_LD, "wasm-ld", "wasm-ld-14"].find((c) => c && works(c));
if (!clang || !linker) {
  console.log(`arpo.wasm not ${check ? "checked" : "built"}: clang++ and wasm-ld are needed`);
  process.exit(check ? 0 : 1);
}

const folder = mkdtempSync(join(tmpdir(), "arpo-wasm-"));
function run(command, args) {
  const { status, stderr } = spawnSync(command, args, { cwd: native, encoding: "utf8" });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  console.error(stderr);
  process.exit(1);
}
const flags = [
  ...["--target=wasm32", "-std=c++17", "-O3", "-ffreestanding", "-nostdlib", "-fno-exceptions"],
  ...["-fno-rtti", "-fno-math-errno", "-fno-threadsafe-statics", "-fvisibility=hidden"],
  ...["-msimd128", "-mbulk-memory", "-matomics", "-mmutable-globals", "-mnontrapping-fptoint"],
];
const sources = ["src", "wasm"].flatMap((dir) =>
  readdirSync(join(native, dir))
    .filter((f) => f.endsWith(".cc"))
    .sort()
    .map((f) => `${dir}/${f}`),
);
const objects = sources.map((source) => {
  const object = join(folder, `${source.split("/")[0]}-${basename(source, ".cc")}.o`);
  run(clang, [...flags, "-c", source, "-o", object]);
  return object;
});
const built = join(folder, "arpo.wasm");
run(linker, [
  ...["--no-entry", "--export-dynamic", "--export-table", "--import-memory", "--shared-memory"],
  ...["--max-memory=4294967296", "-z", "stack-size=1048576", "--export=__stack_pointer"],
  ...["--strip-debug", ...objects, "-o", built],
]);

/** The compiler a wasm file names as its maker. */
const maker = (bytes) => /clang version [\d.]+/.exec(bytes.toString("latin1"))?.[0] ?? "unknown";
const [fresh, kept] = [readFileSync(built), check ? readFileSync(target) : undefined];
if (!check) {
  copyFileSync(built, target);
  console.log(`native/arpo.wasm: ${fresh.length} bytes`);
} else if (fresh.equals(kept)) {
  console.log("native/arpo.wasm is what its sources give");
} else if (maker(fresh) !== maker(kept)) {
  console.log(`native/arpo.wasm not compared: made by ${maker(kept)}, here is ${maker(fresh)}`);
} else {
  console.error("native/arpo.wasm is not what its sources give: run node scripts/build-wasm.mjs");
  process.exitCode = 1;
}
rmSync(folder, { recursive: true, force: true });
