// Before and after `npm pack` (`npm run pack:host`): a package with this machine's addon alone, in a minute. The
// package for every platform is `npm run release:pack`. `--after` puts the clone back as it was; an earlier,
// interrupted packing is put back first.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkContents, makeContents, root, say } from "./package-contents.mjs";
import { addressPictures, restoreReadme } from "./readme-pictures.mjs";

const prebuilt = join(root, "native/prebuilt");
const compiled = join(root, "native/build/arpo.node");
/** Where addons for other platforms wait meanwhile. */
const aside = join(root, "native/build/prebuilt-aside");

function putBack() {
  restoreReadme();
  if (!existsSync(aside)) return;
  rmSync(prebuilt, { recursive: true, force: true });
  renameSync(aside, prebuilt);
}

if (process.argv.includes("--after")) putBack();
else {
  putBack();
  await makeContents();
  mkdirSync(prebuilt, { recursive: true });
  mkdirSync(join(root, "native/build"), { recursive: true });
  renameSync(prebuilt, aside);
  mkdirSync(prebuilt);
  try {
    const { addonName } = await import("../../dist/src/tensor/engine/native-engine.js");
    const addons = existsSync(compiled) ? [addonName()] : [];
    for (const name of addons) cpSync(compiled, join(prebuilt, `${name}.node`));
    checkContents(addons);
    addressPictures();
    say(addons.length > 0 ? `with the addon for ${addons[0]} alone` : "without an addon");
  } catch (error) {
    putBack();
    console.error(error.message);
    process.exitCode = 1;
  }
}
