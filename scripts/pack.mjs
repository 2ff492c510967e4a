// Builds everything that a package holds, from clean: run by `npm pack` and `npm publish`. Fails where a part
// cannot be had or the files are not those that are meant (scripts/package-rules.mjs).
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeNotices } from "./notices.mjs";
import { faultsOf } from "./package-rules.mjs";
import { addressPictures, restoreReadme } from "./readme-pictures.mjs";
import { findZig } from "./zig.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// npm prints the package's name, or JSON, on standard output.
const say = (line) => console.error(`arpo-lab: ${line}`);

function node(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`Cannot pack: ${script} must succeed, got status ${status}`);
}

const dist = join(root, "dist");
restoreReadme();
rmSync(dist, { recursive: true, force: true });
node("scripts/build.mjs");
node("scripts/docs.mjs");
node("scripts/tab/build.mjs");
node("scripts/prebuild.mjs");
const { buildPage } = await import("../dist/kernel/server/build-page.js");
const built = await buildPage({ say });
// A browser keeps the page's files by this name.
const page = join(dist, "lab-page", basename(built));
cpSync(built, page, { recursive: true });
const { packages } = writeNotices({ page, zig: findZig({ say }) });
rmSync(join(page, "notices.json"));
say(`THIRD_PARTY_NOTICES.md names ${packages} packages`);

const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 26,
  shell: process.platform === "win32",
});
const [{ files, size, unpackedSize }] = JSON.parse(stdout);
const faults = faultsOf(files.map(({ path }) => path));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
say(`${files.length} files, ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked`);
if (faults.length > 0) {
  const shown = faults.slice(0, 20).map((fault) => `  ${fault}`);
  if (faults.length > shown.length) shown.push(`  and ${faults.length - shown.length} more`);
  console.error(`Cannot pack: the files must be those that are meant, got\n${shown.join("\n")}`);
  process.exit(1);
}
addressPictures();
