// What the tests ran of the code: `NODE_V8_COVERAGE=DIR npm test`, then `node tools/testing/coverage.mjs DIR`.
// Prints the share of compiled lines that some process ran, by module, and the files that ran least.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "dist");
const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  console.error(
    `Cannot report coverage: DIR must be the folder NODE_V8_COVERAGE named, got ${folder}`,
  );
  process.exit(1);
}

const modules = /^(src|kernel|common|apps)\//;
const product = (file) =>
  file.endsWith(".js") && modules.test(file) && !/\.test\.js$|\/testing\//.test(file);

/** 1 at every character that some process ran. */
const ran = new Map();
for (const file of readdirSync(dist, { recursive: true })) {
  const path = file.replaceAll("\\", "/");
  if (product(path)) ran.set(path, new Uint8Array(readFileSync(join(dist, path), "utf8").length));
}

for (const name of readdirSync(folder).filter((n) => n.endsWith(".json"))) {
  let scripts;
  try {
    scripts = JSON.parse(readFileSync(join(folder, name), "utf8")).result;
  } catch {
    continue; // a process that was killed while it wrote
  }
  for (const { url, functions } of scripts) {
    if (!url.startsWith("file:")) continue;
    const total = ran.get(relative(dist, fileURLToPath(url)).replaceAll("\\", "/"));
    if (total === undefined) continue;
    const here = new Uint8Array(total.length);
    // Inner ranges come after the outer ones that hold them, and have the last word.
    const ranges = functions.flatMap((f) => f.ranges);
    ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
    for (const { startOffset, endOffset, count } of ranges)
      here.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    for (let i = 0; i < total.length; i++) total[i] |= here[i];
  }
}

const files = [...ran].map(([path, marks]) => {
  const text = readFileSync(join(dist, path), "utf8");
  let at = 0;
  let lines = 0;
  let covered = 0;
  for (const line of text.split("\n")) {
    const first = at + line.search(/\S/);
    at += line.length + 1;
    if (!/^\s*(?!\/\/|\/?\*|[)}\];,]*$)\S/.test(line)) continue;
    lines++;
    covered += marks[first];
  }
  return { path: path.replace(/\.js$/, ".ts"), lines, covered };
});

const percent = (list) => {
  const lines = list.reduce((sum, f) => sum + f.lines, 0);
  const covered = list.reduce((sum, f) => sum + f.covered, 0);
  return { lines, share: lines === 0 ? 100 : (100 * covered) / lines };
};
const moduleOf = ({ path }) =>
  path
    .split("/")
    .slice(0, /^(src|kernel|common|apps)\//.test(path) ? 2 : 1)
    .join("/");
for (const module of [...new Set(files.map(moduleOf))].sort()) {
  const { lines, share } = percent(files.filter((f) => moduleOf(f) === module));
  console.log(`${share.toFixed(1).padStart(6)} %  ${String(lines).padStart(6)} lines  ${module}`);
}
const least = files
  .filter((f) => f.lines >= 15)
  .sort((a, b) => a.covered / a.lines - b.covered / b.lines)
  .slice(0, 10);
console.log("ran least:");
for (const { path, lines, covered } of least)
  console.log(
    `${((100 * covered) / lines).toFixed(1).padStart(6)} %  ${String(lines).padStart(6)} lines  ${path}`,
  );
const { lines, share } = percent(files);
console.log(`coverage: ${share.toFixed(1)} % of ${lines} lines in ${files.length} files`);
