// Builds the engine for browsers and for machines without a compiler, from the same sources as the addon:
// native/arpo.wasm by clang and wasm-ld, and native/arpo-relaxed.wasm, whose products and sums are one
// instruction, by zig's clang, for that of Debian 12 knows none of them. `--check` builds aside and compares
// with the files in the repository: equal bytes where the compiler is the one that made them.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { native, sourcesIn } from "./native-jobs.mjs";
import { findZig } from "./zig.mjs";

const check = process.argv.includes("--check");

const works = (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
const clang = [process.env.WASM_CXX, "clang++", "clang++-14"].find((c) => c && works(c));
const linker = [process.env.WASM_LD, "wasm-ld", "wasm-ld-14"].find((c) => c && works(c));
function zigs() {
  try {
    return findZig({ say: (line) => console.log(`arpo-lab: ${line}`) });
  } catch {
    return undefined; // no Python that could fetch it
  }
}
const zig = zigs();

const builds = [
  {
    name: "arpo.wasm",
    needs: "clang++ and wasm-ld",
    compile: clang && linker && [clang, "--target=wasm32"],
    link: [linker],
    flags: [],
  },
  {
    name: "arpo-relaxed.wasm",
    needs: "zig",
    // Without the sanitizer that zig adds where it is not told otherwise.
    compile: zig && [zig, "c++", "-target", "wasm32-freestanding", "-fno-sanitize=undefined", "-w"],
    link: [zig, "wasm-ld"],
    flags: ["-mrelaxed-simd", "-ffp-contract=fast"],
  },
];

const folder = mkdtempSync(join(tmpdir(), "arpo-wasm-"));
function run([command, ...first], args) {
  const { status, stderr } = spawnSync(command, [...first, ...args], {
    cwd: native,
    encoding: "utf8",
  });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  console.error(stderr);
  process.exit(1);
}
const common = [
  ...["-std=c++17", "-O3", "-ffreestanding", "-nostdlib", "-fno-exceptions"],
  ...["-fno-rtti", "-fno-math-errno", "-fno-threadsafe-statics", "-fvisibility=hidden"],
  ...["-msimd128", "-mbulk-memory", "-matomics", "-mmutable-globals", "-mnontrapping-fptoint"],
];
const sources = ["src", "wasm"].flatMap((dir) =>
  sourcesIn(dir).map((path) => ({ path, object: `${dir}-${basename(path, ".cc")}.o` })),
);

/** Compiles and links one of them; the path of what came of it. */
function build({ name, compile, link, flags }) {
  const objects = sources.map((source) => {
    const object = join(folder, `${name}-${source.object}`);
    run(compile, [...common, ...flags, "-c", relative(native, source.path), "-o", object]);
    return object;
  });
  const built = join(folder, name);
  run(link, [
    ...["--no-entry", "--export-dynamic", "--export-table", "--import-memory", "--shared-memory"],
    ...["--max-memory=4294967296", "-z", "stack-size=1048576", "--export=__stack_pointer"],
    ...["--strip-debug", ...objects, "-o", built],
  ]);
  return built;
}

/** The compiler a wasm file names as its maker. */
const maker = (bytes) => /clang version [\d.]+/.exec(bytes.toString("latin1"))?.[0] ?? "unknown";

for (const wanted of builds) {
  const { name, needs, compile } = wanted;
  const target = join(native, name);
  if (!compile) {
    console.log(
      `${check ? "left out: " : ""}${name} not ${check ? "checked" : "built"}: ${needs} must be there`,
    );
    if (!check) process.exitCode = 1;
    continue;
  }
  const built = build(wanted);
  const [fresh, kept] = [readFileSync(built), check ? readFileSync(target) : undefined];
  if (!check) {
    copyFileSync(built, target);
    console.log(`native/${name}: ${fresh.length} bytes`);
  } else if (fresh.equals(kept)) {
    console.log(`native/${name} is what its sources give`);
  } else if (maker(fresh) !== maker(kept)) {
    console.log(`native/${name} not compared: made by ${maker(kept)}, here is ${maker(fresh)}`);
  } else {
    console.error(
      `native/${name} is not what its sources give: run node tools/native/build-wasm.mjs`,
    );
    process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true, force: true });
