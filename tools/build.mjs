// Compiles the source roots, bench and tests into dist/ (JavaScript, declarations, source maps).
// TypeScript 7's native compiler does it in a second or two; the JavaScript compiler that cells use
// is a separate dependency, because TypeScript 7 exports no JavaScript API.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyDanfojsTypes, packDanfojs, standIns } from "./vendor/frame.mjs";
import { packMcp, packMcpForTab } from "./vendor/mcp.mjs";
import { packPages } from "./views/pages.mjs";
import { copyTfjsTypes, packTfjs, packWebgpu } from "./vendor/tfjs.mjs";
import { packSqlite } from "./vendor/sqlite.mjs";
import { writeSourceLines } from "./source-lines.mjs";
import { packTypeScript } from "./vendor/typescript.mjs";
import { sourceRoots } from "./architecture/source-roots.mjs";
import { copyZodTypes, packZod } from "./vendor/zod.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const isNewer = (made, source) =>
  existsSync(made) && statSync(made).mtimeMs > statSync(source).mtimeMs;

/** Deletes compiled files whose source is gone, so that a removed test cannot keep passing. */
function prune(dir) {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) prune(path);
    else {
      const source = path.replace(join(root, "dist"), root).replace(/\.(js|d\.ts|js\.map)$/, ".ts");
      if (source.endsWith(".ts") && !existsSync(source)) rmSync(path);
    }
  }
}
for (const folder of [...sourceRoots, "tools/bench", "tests"]) prune(join(root, "dist", folder));

// Node takes a quarter of a second to read tfjs's CommonJS files as modules, and a tenth of that for
// the pack. Other copies of tfjs in the process share its one global engine and registry.
const tfjs = join(root, "dist/vendor/tfjs.mjs");
if (!existsSync(tfjs)) await packTfjs(tfjs);
const tab = join(root, "dist/vendor/tfjs-browser.mjs");
if (!existsSync(tab)) await packTfjs(tab, { platform: "browser" });
const webgpu = join(root, "dist/vendor/tfjs-webgpu.mjs");
if (!isNewer(webgpu, join(root, "tools/vendor/tfjs.mjs"))) await packWebgpu(webgpu);
const types = join(root, "dist/vendor/tfjs");
if (!existsSync(types)) copyTfjsTypes(types);

const danfojs = join(root, "dist/vendor/danfojs.mjs");
const inDanfojs = [join(root, "tools/vendor/frame.mjs"), ...Object.values(standIns)];
if (inDanfojs.some((path) => !isNewer(danfojs, path))) {
  copyDanfojsTypes(join(root, "dist/vendor/danfojs"));
  await packDanfojs(danfojs);
}

const zod = join(root, "dist/vendor/zod.mjs");
if (!existsSync(zod)) await packZod(zod);
const zodTypes = join(root, "dist/vendor/zod");
if (!existsSync(zodTypes)) copyZodTypes(zodTypes);

const sqlite = join(root, "dist/vendor/sqlite-browser.mjs");
if (!existsSync(sqlite)) await packSqlite(sqlite);

const mcp = join(root, "dist/vendor/mcp.mjs");
const ofMcp = join(root, "tools/vendor/mcp.mjs");
if (!isNewer(mcp, ofMcp)) await packMcp(mcp);
const mcpForTab = join(root, "dist/vendor/mcp-browser.mjs");
if (!isNewer(mcpForTab, ofMcp)) await packMcpForTab(mcpForTab);

// The outputs of these notebooks are trusted as long as their files are what they are now.
const lessons = readdirSync(join(root, "notebooks")).filter((name) => name.endsWith(".ipynb"));
const sha256 = (name) => createHash("sha256").update(readFileSync(join(root, "notebooks", name)));
const hashes = lessons.sort().map((name) => sha256(name).digest("hex"));
writeFileSync(join(root, "dist/lessons.json"), JSON.stringify(hashes));

await packPages();
writeSourceLines(root, join(root, "dist/pages/source-lines.js"));

await packTypeScript(join(root, "dist/vendor/typescript"));

// An addon older than its sources answers other calls than today's.
if (existsSync(join(root, "native/build/arpo.node"))) {
  spawnSync(process.execPath, [join(root, "tools/native/build-native.mjs")], {
    stdio: "inherit",
  });
}

const tsc = join(root, "node_modules/tsc7/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], {
  stdio: "inherit",
  cwd: root,
});
process.exit(status ?? 1);
