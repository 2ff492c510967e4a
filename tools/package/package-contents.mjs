// What a package holds beside its sources: the steps that make it, from a clone that is built, and the check of
// its files (tools/package/package-rules.mjs). Used by tools/package/pack.mjs and tools/package/release.mjs.
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeNotices } from "./notices.mjs";
import { faultsOf } from "./package-rules.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "dist");
const began = performance.now();

// npm prints the package's name, or JSON, on standard output.
export const say = (line) =>
  console.error(`arpo-lab: ${Math.round((performance.now() - began) / 1000)} s: ${line}`);

export function node(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`Cannot pack: ${script} must succeed, got status ${status}`);
}

/** Compiles, and makes the site's programs, the lab's page and the notices. */
export async function makeContents(zig) {
  say("compile");
  node("tools/build.mjs");
  const { commitOf } = await import("../../dist/apps/cli/version/version-line.js");
  const commit = commitOf(root);
  writeFileSync(join(dist, "commit.json"), `${JSON.stringify({ commit })}\n`);
  say(`of commit ${commit}`);
  say("bundle the site's programs");
  node("tools/tab/build.mjs");
  say("build the lab's page");
  const { buildPage } = await import("../../dist/kernel/server/build-page.js");
  const built = await buildPage({ say });
  const pages = join(dist, "lab-page");
  // A browser keeps the page's files by this name.
  const page = join(pages, basename(built));
  rmSync(pages, { recursive: true, force: true });
  cpSync(built, page, { recursive: true });
  const { packages } = writeNotices({ page, zig });
  rmSync(join(page, "notices.json"));
  say(`THIRD_PARTY_NOTICES.md names ${packages} packages`);
}

/** Throws where the package's files are not those that are meant. */
export function checkContents(addons) {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    shell: process.platform === "win32",
  });
  const [{ files, size, unpackedSize }] = JSON.parse(stdout);
  const faults = faultsOf(
    files.map(({ path }) => path),
    { addons },
  );
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  say(`${files.length} files, ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked`);
  if (faults.length === 0) return;
  const shown = faults.slice(0, 20).map((fault) => `  ${fault}`);
  if (faults.length > shown.length) shown.push(`  and ${faults.length - shown.length} more`);
  throw new Error(`Cannot pack: the files must be those that are meant, got\n${shown.join("\n")}`);
}

/** The addons that are in native/prebuilt, by their platforms' names. */
export const prebuiltAddons = () =>
  readdirSync(join(root, "native/prebuilt"))
    .filter((name) => name.endsWith(".node"))
    .map((name) => name.replace(/\.node$/, ""));
