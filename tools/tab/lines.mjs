// How many lines of code exist only for a browser tab. `node tools/tab/lines.mjs` counts them by folder.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./bundle.mjs";

/** What is only for a tab, besides tests. */
const places = [
  ...["common/platform/browser", "kernel/browser", "apps/site/tab", "apps/site/explore"],
  ...["tools/tab", "tools/vendor/sqlite.mjs"],
];

/** Lines that are neither empty nor a comment alone. */
const linesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line)).length;

/** Lines by place. */
export function tabLines() {
  return places.map((place) => {
    const files = place.endsWith(".mjs")
      ? [place]
      : readdirSync(join(root, place), { recursive: true })
          .filter((name) => /\.(ts|mjs)$/.test(name) && !name.endsWith(".test.ts"))
          .map((name) => join(place, name));
    return { place, lines: files.reduce((sum, file) => sum + linesOf(join(root, file)), 0) };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const found = tabLines();
  for (const { place, lines } of found) console.log(`${lines} ${place}`);
  console.log(`${found.reduce((sum, { lines }) => sum + lines, 0)} in all`);
}
