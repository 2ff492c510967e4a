// Exchanges tfjs for one rebuilt with Float64Array in place of Float32Array, so that what is compared
// in double precision is the code that ships and not a second copy of it.
// `node tools/vendor/float64.mjs FILE` runs a compiled file that way.
import { mkdirSync, renameSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packTfjs } from "./tfjs.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outfile = join(root, "dist/vendor/tfjs-float64.mjs");
// Built aside and moved into place: several tests may do this at once.
const temporary = join(root, `dist/vendor/tfjs-float64.${process.pid}.mjs`);
mkdirSync(join(root, "dist/vendor"), { recursive: true });
await packTfjs(temporary, {
  minify: false,
  plugins: [
    {
      name: "double",
      setup(b) {
        b.onLoad({ filter: /[\\/]@tensorflow[\\/].*\.js$/ }, async ({ path }) => ({
          // Arrays of either precision may be given.
          contents: (await readFile(path, "utf8"))
            .replace(/\bFloat32Array\b/g, "Float64Array")
            .replace(/\.types\.isFloat32Array\((\w+)\)/g, "$&||this.util.types.isFloat64Array($1)"),
          loader: "js",
        }));
      },
    },
  ],
});

renameSync(temporary, outfile);

const hook = `export const resolve = (specifier, context, next) =>
  specifier === "#tfjs"
    ? { url: ${JSON.stringify(pathToFileURL(outfile).href)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
process.env.ARPO_LAB_BACKEND = "cpu";

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await import(pathToFileURL(resolve(root, process.argv[2])).href);
}
