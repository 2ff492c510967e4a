import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkSignatures, engineSignatures } from "./engine-functions.js";

test("the types of the engine's functions are what their headers declare", () => {
  const script = fileURLToPath(
    new URL("../../../../tools/native/engine-types.mjs", import.meta.url),
  );
  execFileSync(process.execPath, [script, "--check"]);
});

test("an engine built from other sources is refused, with the function that differs", () => {
  checkSignatures("native", engineSignatures);
  assert.throws(
    () => checkSignatures("native", { ...engineSignatures, decoder_trim: "vd" }),
    /must be built from these sources; its decoder_trim must have the signature vdi, got vd$/,
  );
  assert.throws(() => checkSignatures("wasm", {}), /signature i, got undefined$/);
});
