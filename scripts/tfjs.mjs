// How tfjs is packed into one file: core, every gradient, the chained methods (`x.add(y)`) and the cpu
// backend. tfjs-core's own Node file leaves gradients and methods out.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Packs tfjs into `outfile`; `plugins` may change its files on the way. */
export async function packTfjs(outfile, { plugins = [], minify = true } = {}) {
  await build({
    stdin: {
      contents: `export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
export { MathBackendCPU } from "@tensorflow/tfjs-backend-cpu";`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    mainFields: ["module", "main"],
    minify,
    keepNames: minify,
    logLevel: "error",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    plugins,
  });
}
