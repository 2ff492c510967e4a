// How zod is packed into one file, `#zod`: a plain import of arpo-lab need not read its hundred files.
// Of zod's languages only English is kept.
import { build } from "./bundle.mjs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

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

/** The types of the pack: `folder`/index.d.ts and what it names. */
export function copyZodTypes(folder) {
  copyDeclarations({
    from: join(root, "node_modules/zod"),
    to: folder,
    entries: ["v4/classic/external.d.ts"],
    // Of its forty languages one.
    edit: (text) =>
      text.replace(/^export \* as locales from .*$/m, "export declare const locales: object;"),
  });
  writeFileSync(join(folder, "index.d.ts"), 'export * as z from "./v4/classic/external.js";\n');
}
