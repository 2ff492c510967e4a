import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fromPlanes } from "../../../common/platform/browser/site/planes.js";
import { packagePath } from "../../../common/platform/node/modules.js";
import { toPlanes } from "./write-site.js";

test("fromPlanes() undoes toPlanes(), whatever the length", () => {
  for (let length = 0; length < 12; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i + 1);
    assert.deepEqual(fromPlanes(toPlanes(bytes)), bytes);
  }
  assert.deepEqual([...toPlanes(Uint8Array.of(1, 2, 3, 4, 5, 6))], [1, 5, 2, 6, 3, 4]);
});

test("the tiny model's weights are a sixth smaller as planes, packed by gzip", () => {
  const bytes = readFileSync(packagePath("data/models/tiny/model.safetensors"));
  assert.ok(gzipSync(toPlanes(bytes)).length < 0.86 * bytes.length);
});
