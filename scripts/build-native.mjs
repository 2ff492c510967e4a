// Builds native/build/arpo.node from native/. Runs when the package is installed; where it cannot, it
// says so in one line and the same engine runs as wasm instead. `--require` makes failure an error.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const native = join(root, "native");
const build = join(native, "build");
const addon = join(build, "arpo.node");
const required = process.argv.includes("--require");

function giveUp(reason) {
  rmSync(addon, { force: true });
  console.log(`arpo-lab: no native engine (${reason}); the wasm engine is used instead.`);
  process.exit(required ? 1 : 0);
}

/** Whether the addon is newer than everything it is made from. */
function upToDate() {
  if (process.argv.includes("--force") || !existsSync(addon)) return false;
  const made = statSync(addon).mtimeMs;
  const sources = ["src", "addon"].flatMap((dir) =>
    readdirSync(join(native, dir)).map((f) => join(native, dir, f)),
  );
  return [...sources, fileURLToPath(import.meta.url)].every((f) => statSync(f).mtimeMs < made);
}
if (upToDate()) process.exit(0);
if (process.env.ARPO_LAB_NO_NATIVE) giveUp("ARPO_LAB_NO_NATIVE is set");
if (process.platform === "win32") giveUp("Windows is not covered");

const compiler = [process.env.CXX, "g++", "clang++", "c++"].find(
  (c) => c && spawnSync(c, ["--version"], { stdio: "ignore" }).status === 0,
);
if (!compiler) giveUp("no C++ compiler: looked for g++, clang++ and c++");

let headers;
try {
  const { include_dir } = createRequire(import.meta.url)("node-api-headers");
  headers = include_dir;
} catch {
  giveUp("the package node-api-headers is missing");
}

const flags = [
  "-std=c++17",
  "-O3",
  "-fPIC",
  "-fno-exceptions",
  "-fno-rtti",
  "-fno-math-errno",
  "-ffp-contract=fast",
  "-fvisibility=hidden",
  "-Wall",
  "-Wno-psabi",
  "-Wno-unknown-pragmas",
  "-Wno-unused-function",
  "-pthread",
  "-isystem",
  headers,
];
// The compiler for the widest set may be too old or this machine not x86: each set is compiled into a
// namespace of its own and the addon picks one when it loads.
const sets =
  process.arch === "x64"
    ? {
        base: [],
        avx2: ["-mavx2", "-mfma", "-DARPO_ISA_avx2"],
        avx512: [
          ...["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"],
          ...["-mprefer-vector-width=512", "-DARPO_ISA_avx512"],
        ],
      }
    : { base: [] };

const engine = readdirSync(join(native, "src"))
  .filter((f) => f.endsWith(".cc"))
  .map((f) => join(native, "src", f));
const jobs = [
  { source: join(native, "addon/addon.cc"), flags, object: "addon.o" },
  { source: join(native, "addon/host.cc"), flags, object: "host.o" },
];
for (const [set, extra] of Object.entries(sets)) {
  for (const source of [...engine, join(native, "addon/table.cc")]) {
    const object = `${basename(source, ".cc")}.${set}.o`;
    jobs.push({ source, flags: [...flags, ...extra], object });
  }
}

/** Runs the compiler; resolves to what it complained of, or to nothing. */
function compile(args) {
  return new Promise((resolve) => {
    const child = spawn(compiler, args, { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (d) => (text += d));
    child.on("error", (e) => resolve(e.message));
    child.on("close", (code) => resolve(code === 0 ? undefined : text || `exit status ${code}`));
    if (process.argv.includes("--verbose")) child.stderr.pipe(process.stderr);
  });
}
const firstError = (text) =>
  text.split("\n").find((l) => /error|cannot|No such/i.test(l)) ?? text.split("\n")[0];

const objects = join(build, `objects-${process.pid}`);
mkdirSync(objects, { recursive: true });
let failure;
const queue = [...jobs];
await Promise.all(
  Array.from({ length: Math.min(availableParallelism(), 8) }, async () => {
    for (let job; !failure && (job = queue.shift());) {
      const error = await compile([
        ...job.flags,
        "-c",
        job.source,
        "-o",
        join(objects, job.object),
      ]);
      if (error) failure ??= error;
    }
  }),
);
if (!failure) {
  const undefinedLater = process.platform === "darwin" ? ["-undefined", "dynamic_lookup"] : [];
  const temporary = join(objects, "arpo.node");
  failure = await compile([
    "-shared",
    "-pthread",
    ...undefinedLater,
    ...jobs.map((j) => join(objects, j.object)),
    "-o",
    temporary,
  ]);
  if (!failure) {
    // A compiler that runs is not yet an addon that loads.
    const loads = spawnSync(process.execPath, ["-e", "require(process.argv[1])", temporary]);
    if (loads.status !== 0) failure = firstError(String(loads.stderr)) || "the addon does not load";
    else renameSync(temporary, addon);
  }
}
rmSync(objects, { recursive: true, force: true });
if (failure) giveUp(`${compiler}: ${firstError(failure).replace(dirname(native), "").trim()}`);
