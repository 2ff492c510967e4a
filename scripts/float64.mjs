// Exchanges tfjs for one rebuilt with Float64Array in place of Float32Array, so that what is compared
// in double precision is the code that ships and not a second copy of it.
// `node scripts/float64.mjs FILE` runs a compiled file that way.
import { build } from "esbuild";
import { mkdirSync, renameSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = join(root, "dist/vendor/tfjs-float64.mjs");
// Built aside and moved into place: several tests may do this at once.
const temporary = join(root, `dist/vendor/tfjs-float64.${process.pid}.mjs`);
mkdirSync(join(root, "dist/vendor"), { recursive: true });
await build({
  stdin: {
    contents: `export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
export { MathBackendCPU } from "@tensorflow/tfjs-backend-cpu";`,
    resolveDir: root,
  },
  outfile: temporary,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  mainFields: ["module", "main"],
  logLevel: "error",
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  plugins: [
    {
      name: "double",
      setup(b) {
        b.onLoad({ filter: /[\\/]@tensorflow[\\/].*\.js$/ }, async ({ path }) => ({
          contents: (await readFile(path, "utf8")).replace(/\bFloat32Array\b/g, "Float64Array"),
          loader: "js",
        }));
      },
    },
  ],
});

renameSync(temporary, outfile);

const replaced = ["@tensorflow/tfjs-core", "@tensorflow/tfjs-backend-cpu", "#tfjs-gradients"];
const hook = `export const resolve = (specifier, context, next) =>
  ${JSON.stringify(replaced)}.includes(specifier)
    ? { url: ${JSON.stringify(pathToFileURL(outfile).href)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
process.env.ARPO_LAB_BACKEND = "cpu";

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await import(pathToFileURL(resolve(root, process.argv[2])).href);
}
