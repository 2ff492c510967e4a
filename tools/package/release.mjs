// `npm run release:pack`: the package for all platforms, as it is published. Compiles the seven addons with zig,
// about 20 minutes on two processors, and prints each as it is done; `--prebuilt` takes those that lie in
// native/prebuilt, each compiled on its own platform. Other arguments go to `npm pack`.
import { spawnSync } from "node:child_process";
import {
  checkContents,
  makeContents,
  node,
  prebuiltAddons,
  root,
  say,
} from "./package-contents.mjs";
import { addons } from "./package-rules.mjs";
import { addressPictures, restoreReadme } from "./readme-pictures.mjs";
import { findZig } from "../native/zig.mjs";

const rest = process.argv.slice(2).filter((word) => word !== "--prebuilt");
restoreReadme();
try {
  if (!process.argv.includes("--prebuilt")) {
    say("compile the addons of seven platforms");
    node("tools/native/prebuild.mjs");
  }
  const there = prebuiltAddons();
  const missing = addons.filter((name) => !there.includes(name));
  if (missing.length > 0)
    throw new Error(
      `Cannot pack a release: native/prebuilt must have every addon, got none for ${missing.join(", ")}`,
    );
  await makeContents(findZig({ say }));
  checkContents(addons);
  addressPictures();
  const { status } = spawnSync("npm", ["pack", "--ignore-scripts", ...rest], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  restoreReadme();
}
