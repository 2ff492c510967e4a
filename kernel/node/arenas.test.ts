import assert from "node:assert/strict";
import { test } from "node:test";
import { oneArena, restoreArenas } from "./arenas.js";

test("restoreArenas() leaves the environment as it was before the kernel's", () => {
  for (const [before, after] of [
    ["${MALLOC_ARENA_MAX}", {}],
    ["4", { MALLOC_ARENA_MAX: "4" }],
  ] as const) {
    const env: NodeJS.ProcessEnv = { ...oneArena, ARPO_LAB_ARENAS_BEFORE: before };
    restoreArenas(env);
    assert.deepEqual(env, after);
  }
  const own: NodeJS.ProcessEnv = { MALLOC_ARENA_MAX: "2" };
  restoreArenas(own);
  assert.deepEqual(own, { MALLOC_ARENA_MAX: "2" });
});
