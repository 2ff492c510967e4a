// Builds native/build/arpo.node from native/, with the compiler of this machine. Runs when a clone is
// installed; where it cannot, it says so in one line and the same engine runs as wasm instead. A package
// brings its addons (tools/native/prebuild.mjs). `--require` makes failure an error.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesIn, native, nativeJobs } from "./native-jobs.mjs";

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
  const sources = ["src", "addon"].flatMap(filesIn);
  const scripts = ["build-native.mjs", "native-jobs.mjs"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  return [...sources, ...scripts].every((f) => statSync(f).mtimeMs < made);
}
if (upToDate()) process.exit(0);
if (process.env.ARPO_LAB_NO_NATIVE) giveUp("ARPO_LAB_NO_NATIVE is set");
if (process.platform === "win32") giveUp("Windows is not covered");

const compiler = [process.env.CXX, "g++", "clang++", "c++"].find(
  (c) => c && spawnSync(c, ["--version"], { stdio: "ignore" }).status === 0,
);
if (!compiler) giveUp("no C++ compiler: looked for g++, clang++ and c++");

let jobs;
try {
  jobs = nativeJobs(process.arch);
} catch {
  giveUp("the package node-api-headers is missing");
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
    ...(process.platform === "linux" ? ["-ldl"] : []),
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
