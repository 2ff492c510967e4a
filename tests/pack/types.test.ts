import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsUnder, here, kinds } from "./declarations.js";

// The other kinds of modules and compilers: types.slow.test.ts.
test("TypeScript 7 checks every public declaration, and the first programs of the documentation", async () => {
  assert.equal(await faultsUnder(here, kinds[0]), "");
});
