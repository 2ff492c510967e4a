// What an installation brings from npm: what each direct dependency is for, licences, install scripts, checksums in
// the lock files, and a limit on number and size. docs/supply-chain.md has the reasons.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = "docs/supply-chain.md";

/** Packages that a user installs with arpo-lab, and the size of their folders on the disk of Linux x64. */
const limits = { packages: 75, megabytes: 90 };

const licences = new Set([
  ...["MIT", "Apache-2.0", "MPL-2.0", "BlueOak-1.0.0", "ISC", "0BSD", "Unlicense", "EPL-2.0"],
  ...["BSD-2-Clause", "BSD-3-Clause", "MIT AND MPL-2.0", "(MPL-2.0 OR Apache-2.0)"],
  ...["(AFL-2.1 OR BSD-3-Clause)", "(CC-BY-4.0 AND OFL-1.1 AND MIT)"],
]);

/** Their package.json names no licence in the present form; their LICENSE files are MIT. */
const mitByFile =
  /^(compute-gcd|compute-lcm|khroma|validate\.io-(function|integer|integer-array|number))$/;

/** May have an install script; none of them is needed (`npm ci --ignore-scripts` works, see the page). */
const scripted = new Set(["zeromq", "esbuild", "@fortawesome/fontawesome-free"]);

const read = (path) => readFileSync(join(root, path), "utf8");

/** The packages that a lock file installs for users, without those that only development needs. */
export const installed = (lock) =>
  Object.entries(lock.packages)
    .filter(([path, entry]) => path !== "" && !entry.dev && !entry.link)
    .map(([path, entry]) => ({ path, name: path.replace(/^.*node_modules\//, ""), ...entry }));

/** What is wrong with the packages of a lock file. */
export const faultsOfLock = (file, lock) =>
  installed(lock).flatMap(({ name, license, integrity, hasInstallScript }) => [
    ...(licences.has(license) || (license === undefined && mitByFile.test(name))
      ? []
      : [`${file}: ${name} has the licence ${license}, which is not on the list`]),
    ...(/^sha512-/.test(integrity ?? "") ? [] : [`${file}: ${name} has no SHA-512 checksum`]),
    ...(hasInstallScript && !scripted.has(name)
      ? [`${file}: ${name} runs a script when it is installed`]
      : []),
  ]);

/** Direct dependencies that the page does not explain, and rows of the page for what is no dependency. */
export function faultsOfPage(text, names) {
  const rows = [...text.matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1]);
  return [
    ...names
      .filter((name) => !rows.includes(name))
      .map((name) => `${page} does not explain ${name}`),
    ...rows
      .filter((name) => !names.includes(name))
      .map((name) => `${page} explains ${name}, which is no dependency`),
  ];
}

function bytesOf(path) {
  const stat = lstatSync(path);
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
    : stat.size;
}

export function supplyChain() {
  const lock = JSON.parse(read("package-lock.json"));
  const pageLock = "kernel/server/page/package-lock.json";
  const faults = [
    ...faultsOfLock("package-lock.json", lock),
    ...faultsOfLock(pageLock, JSON.parse(read(pageLock))),
    ...faultsOfPage(read(page), Object.keys(JSON.parse(read("package.json")).dependencies)),
  ];
  const here = installed(lock).filter(({ path, peer, optional }) => {
    if (peer) return false;
    return !optional || lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
  });
  const megabytes = here.reduce((sum, { path }) => sum + bytesOf(join(root, path)), 0) / 1e6;
  if (here.length > limits.packages)
    faults.push(
      `${here.length} packages are installed with arpo-lab, at most ${limits.packages} may be`,
    );
  if (megabytes > limits.megabytes)
    faults.push(
      `installed packages have ${megabytes.toFixed(1)} MB, at most ${limits.megabytes} MB`,
    );
  return { faults, packages: here.length, megabytes };
}
