// How zod is packed into one file, `#zod`: a plain import of arpo-lab need not read its hundred files.
// Of zod's languages only English is kept.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const english = {
  name: "english",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Packs zod into `outfile`. */
export async function packZod(outfile) {
  await build({
    stdin: { contents: 'export { z } from "zod";', resolveDir: root },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    logLevel: "error",
    plugins: [english],
  });
}
