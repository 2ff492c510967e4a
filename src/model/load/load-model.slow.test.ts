import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { modelConfig } from "../config.js";
import { saveRandomModel } from "../files/save-model.js";

test("loadModel() holds the weights once: loading does not double them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-large-"));
  const config = modelConfig({
    vocabSize: 32_000,
    hiddenSize: 1024,
    intermediateSize: 2816,
    layers: 6,
    heads: 16,
    kvHeads: 4,
  });
  for (const dtype of ["float32", "bfloat16"] as const) {
    await saveRandomModel(config, 1, folder, { dtype });
    // Peak memory belongs to a process, so each measurement has its own.
    const script = `
      import { loadModel } from ${JSON.stringify(new URL("./load-model.js", import.meta.url).href)};
      const before = process.resourceUsage().maxRSS;
      const model = await loadModel(${JSON.stringify(folder)});
      const grown = (process.resourceUsage().maxRSS - before) * 1024;
      console.log(JSON.stringify({ grown, weights: model.size * 4 }));
      process.exit();`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--input-type=module", "--eval", script],
      { encoding: "utf8" },
    );
    const line = stdout.split("\n").find((text) => text.startsWith("{"));
    assert.ok(line, stdout + stderr);
    const { grown, weights } = JSON.parse(line) as { grown: number; weights: number };
    assert.ok(weights > 350e6);
    assert.ok(grown < 1.4 * weights, `${dtype}: ${grown} bytes for ${weights} bytes of weights`);
  }
  await rm(folder, { recursive: true });
});
