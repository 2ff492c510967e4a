import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { compiledLibrary } from "./compiled-library.js";

test("compiledLibrary() is made once, and again where it was damaged; none where it cannot be made", async () => {
  const folder = temporaryFolder("compiled-library");
  const before = process.env["ARPO_LAB_CACHE"];
  process.env["ARPO_LAB_CACHE"] = join(folder, "cache");
  const made = join(folder, "made");
  const maker = {
    file: process.execPath,
    args: [
      "-e",
      `fs.appendFileSync(${JSON.stringify(made)}, "x"); process.stdout.write("library")`,
    ],
    env: {},
  };
  try {
    const [path, same] = await Promise.all([
      compiledLibrary("1", maker),
      compiledLibrary("1", maker),
    ]);
    assert.equal(path, same);
    assert.equal(readFileSync(path!, "utf8"), "library");
    assert.equal(readFileSync(made, "utf8"), "x");
    writeFileSync(path!, "damaged");
    // Another process asks: what this one remembers is by the version.
    const again = await import(`./compiled-library.js?again=${String(Date.now())}`) as typeof import("./compiled-library.js"); // prettier-ignore
    assert.equal(await again.compiledLibrary("1", maker), path);
    assert.equal(readFileSync(path!, "utf8"), "library");
    assert.equal(readFileSync(made, "utf8"), "xx");
    const failing = { ...maker, args: ["-e", "process.exit(3)"] };
    assert.equal(await compiledLibrary("2", failing), undefined);
  } finally {
    if (before === undefined) delete process.env["ARPO_LAB_CACHE"];
    else process.env["ARPO_LAB_CACHE"] = before;
  }
});
