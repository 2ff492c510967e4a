// Type-checks what runs in pages as pages have it: with the DOM, without Node. The types that page code
// imports lead to other modules, which needs Node: faults there are not the pages'.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pageSources } from "./pages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(root, "node_modules/tsc7/bin/tsc");
const own = new Set(await pageSources());
const { stdout } = spawnSync(
  process.execPath,
  [tsc, "-p", "tools/views/tsconfig.pages.json", "--pretty", "false"],
  { cwd: root, encoding: "utf8", maxBuffer: 1e9 },
);
const faults = stdout
  .split("\n")
  .filter((line) => /^error/.test(line) || own.has(/^(.+?)\(\d+,\d+\): /.exec(line)?.[1]));
for (const fault of faults) console.error(fault);
console.log(`${own.size} sources of pages checked, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
