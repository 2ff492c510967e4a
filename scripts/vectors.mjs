// `npm run vectors -- DIR`: checks every golden-vector file in DIR against the shipped code.
//
// The vectors were computed in double precision; tfjs stores float32. So this runs the compiled code
// with one thing exchanged: tfjs itself, rebuilt with Float64Array for Float32Array. The mathematics
// that ships is then what is compared at 1e-9, not a second copy of it.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
if (!process.argv.includes("--no-build")) {
  const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], {
    stdio: "inherit",
  });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

const outfile = join(root, "dist/vendor/tfjs-float64.mjs");
await build({
  stdin: {
    contents: `export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
import "@tensorflow/tfjs-backend-cpu";`,
    resolveDir: root,
  },
  outfile,
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

const replaced = ["@tensorflow/tfjs-core", "@tensorflow/tfjs-backend-cpu", "#tfjs-gradients"];
const hook = `export const resolve = (specifier, context, next) =>
  ${JSON.stringify(replaced)}.includes(specifier)
    ? { url: ${JSON.stringify(pathToFileURL(outfile).href)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

process.env.ARPO_LAB_BACKEND = "cpu";
const { checkVectors } = await import(pathToFileURL(join(root, "dist/tests/golden/main.js")).href);
const dir = process.argv[2];
process.exit(await checkVectors(dir && resolve(process.env.INIT_CWD ?? ".", dir)));
