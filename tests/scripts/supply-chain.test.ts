import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

interface SupplyChain {
  faultsOfLock(file: string, lock: object): string[];
  faultsOfPage(text: string, names: readonly string[]): string[];
}
const script = new URL("../../../tools/architecture/supply-chain.mjs", import.meta.url);
const { faultsOfLock, faultsOfPage } = (await import(
  pathToFileURL(fileURLToPath(script)).href
)) as SupplyChain;

const whole = { version: "1.0.0", license: "MIT", integrity: "sha512-abc" };

test("a lock file's unknown licence, missing checksum and new install script are named", () => {
  const packages = {
    "": {},
    "node_modules/good": whole,
    "node_modules/licence": { ...whole, license: "GPL-3.0" },
    "node_modules/none": { ...whole, license: undefined },
    "node_modules/a/node_modules/sum": { ...whole, integrity: "sha1-abc" },
    "node_modules/script": { ...whole, hasInstallScript: true },
    "node_modules/zeromq": { ...whole, license: "MIT AND MPL-2.0", hasInstallScript: true },
    "node_modules/only-here": { license: "GPL-3.0", dev: true },
  };
  assert.deepEqual(faultsOfLock("lock", { packages }), [
    "lock: licence has the licence GPL-3.0, which is not on the list",
    "lock: none has the licence undefined, which is not on the list",
    "lock: sum has no SHA-512 checksum",
    "lock: script runs a script when it is installed",
  ]);
});

test("the page explains each dependency and no other", () => {
  const text = "| package | what for |\n| --- | --- |\n| `ws` | sockets |\n| `old` | gone |\n";
  assert.deepEqual(faultsOfPage(text, ["ws", "yaml"]), [
    "docs/supply-chain.md does not explain yaml",
    "docs/supply-chain.md explains old, which is no dependency",
  ]);
});
