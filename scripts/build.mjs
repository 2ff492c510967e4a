// Compiles src, kernel, picture, cli, bench and tests into dist/ (JavaScript, declarations, source maps).
// TypeScript 7's native compiler does it in a second or two; the JavaScript compiler that cells use
// is a separate dependency, because TypeScript 7 exports no JavaScript API.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packTfjs } from "./tfjs.mjs";
import { packZod } from "./zod.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

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
for (const room of ["src", "kernel", "picture", "cli", "bench", "tests"])
  prune(join(root, "dist", room));

const tfjs = join(root, "dist/vendor/tfjs.mjs");
if (!existsSync(tfjs)) await packTfjs(tfjs);

const zod = join(root, "dist/vendor/zod.mjs");
if (!existsSync(zod)) await packZod(zod);

// The compiler inside the kernel, without comments and white space: a kernel starts sooner.
const { version } = JSON.parse(readFileSync(join(root, "node_modules/typescript/package.json")));
const compiler = join(root, `dist/vendor/typescript-${version}.cjs`);
if (!existsSync(compiler)) {
  await build({
    entryPoints: [join(root, "node_modules/typescript/lib/typescript.js")],
    outfile: compiler,
    platform: "node",
    format: "cjs",
    target: "node20",
    charset: "ascii",
    minify: true,
    logLevel: "error",
  });
}

// An addon older than its sources answers other calls than today's.
if (existsSync(join(root, "native/build/arpo.node"))) {
  spawnSync(process.execPath, [join(root, "scripts/build-native.mjs")], { stdio: "inherit" });
}

const tsc = join(root, "node_modules/tsc7/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.json")], {
  stdio: "inherit",
  cwd: root,
});
process.exit(status ?? 1);
