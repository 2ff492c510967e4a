// Public declarations under older compilers. TypeScript 6 is here; ARPO_LAB_TYPESCRIPT is a folder into which others were
// installed, as ts5.9 and ts5.6.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { faultsUnder, here, kinds, root } from "./declarations.js";

const others = process.env.ARPO_LAB_TYPESCRIPT;
const compilers = {
  "7": here,
  "6": join(root, "node_modules/typescript/bin/tsc"),
  "5.9": join(others ?? "", "node_modules/ts5.9/bin/tsc"),
  "5.6": join(others ?? "", "node_modules/ts5.6/bin/tsc"),
};

for (const [version, compiler] of Object.entries(compilers)) {
  for (const kind of kinds) {
    for (const skips of [true, false]) {
      test(`TypeScript ${version}: ${kind.join(", ")}, ${skips ? "without" : "with"} libraries`, async (t) => {
        if (others === undefined && version.startsWith("5"))
          return t.skip("ARPO_LAB_TYPESCRIPT must name a folder with older compilers");
        assert.ok(existsSync(compiler), compiler);
        assert.equal(await faultsUnder(compiler, kind, skips), "");
      });
    }
  }
}
