// `npm run card [-- --to FOLDER]`: packs the card kit, arpo-lab-card-linux-x64.tar.gz, which measures a GPU on a
// bare Linux machine without a network (docs/gpu.md). It holds this Node, the addon, Dawn, and of dist the
// benchmark, the GPU tests and what they import.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const name = "arpo-lab-card-linux-x64";
/** What the packed kit may weigh, in bytes. */
const heaviest = 60e6;
const root = fileURLToPath(new URL("..", import.meta.url));
const say = (text) => console.error(`arpo-lab: ${text}`);

const starts = [
  ...["tools/bench/gpu", "tools/bench/kit/run", "tools/bench/kit/adapter"],
  ...["tests/tensor/gpu.slow.test", "tests/tensor/gpu-check"],
  ...["tests/tensor/webgpu.slow.test", "tests/tensor/webgpu-check"],
  ...["tests/model/gpu-decoder.slow.test", "tests/model/gpu-decoder-check"],
].map((path) => `dist/${path}.js`);

function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    ...options,
  });
  if (status === 0) return stdout;
  const said = error?.message ?? stderr;
  throw new Error(`Cannot pack: ${command} must succeed, got ${said}`);
}

/** The files that these import, as paths from the repository; of packages their package.json too. */
async function closure() {
  const { metafile } = await build({
    ...{ entryPoints: starts, absWorkingDir: root, bundle: true, write: false, outdir: "dist" },
    ...{ metafile: true, platform: "node", format: "esm", conditions: ["node"] },
    ...{ external: ["webgpu"], loader: { ".node": "empty" }, logLevel: "silent" },
  });
  const files = new Set(Object.keys(metafile.inputs).filter((path) => !/^<|\.node$/.test(path)));
  for (const path of [...files].filter((path) => path.startsWith("node_modules/"))) {
    const scope = /^node_modules\/(@[^/]+\/)?[^/]+/.exec(path)[0];
    for (let at = dirname(path); at.length >= scope.length; at = dirname(at)) {
      const description = join(at, "package.json");
      if (existsSync(join(root, description))) files.add(description);
    }
  }
  return files;
}

/** The kit's command. It uses nothing but the shell, since a bare machine may have no more. */
const command = `#!/bin/sh
# Measures the GPU of this machine: ./card > card.json (at most eight minutes; --quick: one)
case $0 in */*) here=\${0%/*} ;; *) here=. ;; esac
has() {
  for folder in /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib64 /usr/lib64 /usr/lib; do
    [ -e "$folder/$1" ] && return
  done
  return 1
}
# The kit's own libraries only where the system has none.
own=
has libstdc++.so.6 || own=$here/lib/c++
has libvulkan.so.1 || own=$own:$here/lib/vulkan
[ -z "$own" ] || export LD_LIBRARY_PATH="\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$own"
exec "$here/node" "$here/dist/tools/bench/kit/run.js" "$@"
`;

/** A library of this machine, copied into the kit's folder; the kit does without where there is none. */
function library(kit, folder, file) {
  const found = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"]
    .map((place) => join(place, file))
    .find((path) => existsSync(path));
  if (found === undefined) return say(`${file} is not here, so the kit goes without`);
  mkdirSync(join(kit, "lib", folder), { recursive: true });
  cpSync(realpathSync(found), join(kit, "lib", folder, file));
}

async function fill(kit) {
  for (const path of await closure()) {
    cpSync(join(root, path), join(kit, path), { recursive: true });
  }
  // tools/bench/main.js imports by name, so that it would bring every benchmark.
  for (const path of [
    "LICENSE",
    "tools/bench/baselines/torch_baseline.py",
    "dist/tools/bench/main.js",
  ]) {
    cpSync(join(root, path), join(kit, path));
  }
  const { version, type, imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const git = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" });
  const commit = git.status === 0 ? git.stdout.trim() : undefined;
  const described = { name: "arpo-lab", version, commit, private: true, type, imports };
  writeFileSync(join(kit, "package.json"), JSON.stringify(described, null, 2));
  const { findAddon } = await import("../dist/src/tensor/engine/native-engine.js");
  const addon = findAddon();
  if (addon === undefined) throw new Error("Cannot pack: the addon must be compiled, got none");
  mkdirSync(join(kit, "native/prebuilt"), { recursive: true });
  cpSync(addon, join(kit, "native/prebuilt/linux-x64.node"));
  for (const path of ["package.json", "index.js", "LICENSE.md", "dist/linux-x64/dawn.node"]) {
    cpSync(join(root, "node_modules/webgpu", path), join(kit, "node_modules/webgpu", path));
  }
  cpSync(realpathSync(process.execPath), join(kit, "node"));
  for (const file of ["libstdc++.so.6", "libgcc_s.so.1"]) library(kit, "c++", file);
  library(kit, "vulkan", "libvulkan.so.1");
  writeFileSync(join(kit, "card"), command);
  for (const path of ["node", "card"]) chmodSync(join(kit, path), 0o755);
  // A Node that needs files beside it would not start elsewhere.
  run(join(kit, "node"), ["--version"], { env: {} });
}

async function pack(to) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(
      `Cannot pack: the kit is made on linux-x64, got ${process.platform}-${process.arch}`,
    );
  }
  const place = mkdtempSync(join(tmpdir(), "arpo-card-"));
  try {
    const kit = join(place, name);
    mkdirSync(kit);
    await fill(kit);
    const file = join(to, `${name}.tar.gz`);
    run("tar", ["-C", place, "-I", "gzip -9", "-cf", file, name]);
    const { size } = statSync(file);
    if (size > heaviest) {
      throw new Error(`Cannot pack: ${file} must be at most ${heaviest} bytes, got ${size}`);
    }
    say(`${file}, ${(size / 1e6).toFixed(1)} MB`);
    say(`there: tar xzf ${name}.tar.gz && ${name}/card > card.json`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const at = process.argv.indexOf("--to");
try {
  await pack(resolve(at < 0 ? "." : (process.argv[at + 1] ?? ".")));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
