import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { temporaryFolder } from "../../../tests/temporary.js";
import { sweep } from "./sweep.js";

test("a sweep that is stopped while a run is being prepared does not begin that run", async () => {
  const folder = temporaryFolder("arpo-sweep-stop");
  const own = join(folder, "fresh/seed-1");
  const enough = new AbortController();
  const swept = sweep({
    ...{ folder, seeds: [1], preset: "tiny", arms: { fresh: { preset: "grpo" } } },
    ...{ live: false, signal: enough.signal },
  });
  const ended = assert.rejects(swept, { name: "AbortError" });
  // Its settings have been written; its process has not started.
  while (!existsSync(`${own}.yaml`)) await turn();
  enough.abort();
  await ended;
  assert.equal(existsSync(join(own, "metrics.jsonl")), false);
});
