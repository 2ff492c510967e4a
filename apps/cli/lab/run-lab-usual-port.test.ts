import assert from "node:assert/strict";
import { test } from "node:test";
import { usualPort } from "./run-lab.js";

test("usualPort() is a dynamic port, the same for the same folder", () => {
  const ports = Array.from({ length: 1000 }, (_, i) => usualPort(`/home/reader/${i}`));
  assert.ok(ports.every((port) => port >= 49_152 && port <= 65_535));
  assert.ok(new Set(ports).size > 900);
  assert.equal(usualPort("/home/reader/7"), ports[7]);
});
