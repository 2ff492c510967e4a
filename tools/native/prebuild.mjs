// Builds the addons that a package brings, native/prebuilt/PLATFORM-ARCH[-LIBC].node, for every platform
// from any platform: `node tools/native/prebuild.mjs [NAME...]`, all without a name. Node's functions are left
// open, they are the process's own; of other libraries only the system's C library is asked for.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesIn, native, nativeJobs, nodeHeaders } from "./native-jobs.mjs";
import { findZig } from "./zig.mjs";

/** The oldest systems that Node 20 runs on. */
const targets = {
  "linux-x64": { arch: "x64", zig: "x86_64-linux-gnu.2.28" },
  "linux-x64-musl": { arch: "x64", zig: "x86_64-linux-musl" },
  "linux-arm64": { arch: "arm64", zig: "aarch64-linux-gnu.2.28" },
  "linux-arm64-musl": { arch: "arm64", zig: "aarch64-linux-musl" },
  "darwin-x64": { arch: "x64", zig: "x86_64-macos.11.0", link: ["-undefined", "dynamic_lookup"] },
  "darwin-arm64": {
    arch: "arm64",
    zig: "aarch64-macos.11.0",
    link: ["-undefined", "dynamic_lookup"],
  },
  "win32-x64": { arch: "x64", zig: "x86_64-windows-gnu" },
};

// Without the sanitizer that zig adds where it is not told otherwise; and instructions in the order they are
// written: clang's scheduler has two rows' factors in registers at a time, one more than AVX2 has beside the
// sums of a product, which then takes twice as long.
const zigFlags = ["-fno-sanitize=undefined", "-w", "-mllvm", "-enable-misched=0"];

const out = join(native, "prebuilt");
const wanted = process.argv.slice(2).filter((a) => !a.startsWith("-"));
for (const name of wanted) {
  if (targets[name]) continue;
  const known = Object.keys(targets).join(", ");
  console.error(`Cannot build an addon: the platform must be one of ${known}, got ${name}`);
  process.exit(1);
}

/** When the newest thing that an addon is made from was changed. */
const changed = Math.max(
  ...["src", "addon"]
    .flatMap(filesIn)
    .concat(
      ["prebuild.mjs", "native-jobs.mjs", "zig.mjs"].map((f) =>
        fileURLToPath(new URL(f, import.meta.url)),
      ),
    )
    .map((f) => statSync(f).mtimeMs),
);
const fresh = (name) =>
  (statSync(join(out, `${name}.node`), { throwIfNoEntry: false })?.mtimeMs ?? 0) > changed;
const due = Object.keys(targets).filter(
  (name) =>
    (wanted.length === 0 || wanted.includes(name)) &&
    (process.argv.includes("--force") || !fresh(name)),
);
if (due.length === 0) process.exit(0);

const say = (line) => console.log(`arpo-lab: ${line}`);
const zig = findZig({ say });
mkdirSync(out, { recursive: true });
const objects = mkdtempSync(join(out, "objects-"));

function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(zig, args, { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (d) => (text += d));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `Cannot build an addon: zig ${args[0]} must succeed, got\n${text.slice(-3000)}`,
          ),
        );
    });
  });
}

/** For Windows, which wants to know whose the functions are: an import library of node.exe. */
async function importLibrary(folder) {
  const { js_native_api_def, node_api_def } = nodeHeaders().def_paths;
  const libraries = [];
  for (const [name, def] of Object.entries({ js_native_api_def, node_api_def })) {
    const library = join(folder, `${name}.lib`);
    await run(["dlltool", "-m", "i386:x86-64", "-D", "node.exe", "-d", def, "-l", library]);
    libraries.push(library);
  }
  return libraries;
}

try {
  const builds = due.map((name) => {
    const folder = join(objects, name);
    mkdirSync(folder);
    const jobs = nativeJobs(targets[name].arch);
    return { name, folder, jobs, made: jobs.map(({ object }) => join(folder, object)) };
  });
  const queue = builds.flatMap(({ name, folder, jobs }) =>
    jobs.map((job) => ({ ...job, folder, target: targets[name].zig })),
  );
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let job; (job = queue.shift());) {
        const flags = ["-target", job.target, ...zigFlags, ...job.flags];
        await run(["c++", ...flags, "-c", job.source, "-o", join(job.folder, job.object)]);
      }
    }),
  );
  for (const { name, folder, made } of builds) {
    const { zig: target, link = [] } = targets[name];
    const libraries = name.startsWith("win32") ? await importLibrary(folder) : [];
    const built = join(folder, "arpo.node");
    const files = [...made, ...libraries, "-o", built];
    await run(["cc", "-target", target, "-shared", "-s", ...link, ...files]);
    renameSync(built, join(out, `${name}.node`));
    const size = statSync(join(out, `${name}.node`)).size;
    say(`native/prebuilt/${name}.node, ${Math.round(size / 1024)} KiB`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(objects, { recursive: true, force: true });
}
