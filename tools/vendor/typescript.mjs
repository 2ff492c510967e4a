// The compiler inside the kernel, as a package of its own in dist/vendor: without comments and white space a
// kernel starts sooner, and beside the declarations of the standard library nothing else of it is needed.
import { build } from "./bundle.mjs";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const stock = fileURLToPath(new URL("../../node_modules/typescript", import.meta.url));

/** Half of a browser's declarations is what MDN says of them, 1.2 MB; what is deprecated stays marked. */
const withoutWords = (text) =>
  text.replace(/^[ \t]*\/\*\*(?:(?!\*\/)[^])*\*\/\r?\n/gm, (comment) =>
    comment.includes("@deprecated") ? comment : "",
  );

/** Packs TypeScript into `folder`. */
export async function packTypeScript(folder) {
  mkdirSync(folder, { recursive: true });
  const { name, version, license } = JSON.parse(readFileSync(join(stock, "package.json"), "utf8"));
  await build({
    entryPoints: [join(stock, "lib/typescript.js")],
    outfile: join(folder, "typescript.js"),
    platform: "node",
    format: "cjs",
    target: "node20",
    charset: "ascii",
    minify: true,
    logLevel: "error",
  });
  const manifest = { name, version, license, type: "commonjs", main: "typescript.js" };
  // A cell runs in Node or in a tab, whose declarations are lib.dom's: 0.8 MB of a worker's are left out.
  for (const file of readdirSync(join(stock, "lib"))) {
    if (!/^lib\.(?!webworker\b).*\.d\.ts$/.test(file)) continue;
    const from = join(stock, "lib", file);
    if (file !== "lib.dom.d.ts") copyFileSync(from, join(folder, file));
    else writeFileSync(join(folder, file), withoutWords(readFileSync(from, "utf8")));
  }
  for (const notice of ["LICENSE.txt", "ThirdPartyNoticeText.txt"])
    copyFileSync(join(stock, notice), join(folder, notice));
  // Last: where it is, the rest is.
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
