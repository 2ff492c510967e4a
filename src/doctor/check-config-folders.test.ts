import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { lockFolder } from "../run/folder/lock-folder.js";
import { checkConfig } from "./check-config.js";

const tiny = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "arpo-doctor-"));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

test("checkConfig() opens the weights as a run would, and sees one that is at work in the folder", async (t) => {
  const model = join(folder(t), "model");
  cpSync(tiny, model, { recursive: true });
  const weights = join(model, "model.safetensors");
  const bytes = readFileSync(weights);
  writeFileSync(weights, bytes.subarray(0, bytes.length - 1000));
  const config = JSON.parse(readFileSync(join(tiny, "config.json"), "utf8")) as object;
  const out = folder(t);
  const release = await lockFolder(out);
  const found = async (overrides: string[], id: string) =>
    (await checkConfig({ preset: ["arpo", "tiny"], overrides, speed: false })).find(
      (check) => check.id === id,
    )?.found ?? "nothing";
  const path = `actor_rollout_ref.model.path=${model}`;
  assert.match(
    await found([path], "weights-unreadable"),
    /Cannot read safetensors .*model\.safetensors/,
  );
  writeFileSync(weights, bytes);
  writeFileSync(join(model, "config.json"), JSON.stringify({ ...config, num_hidden_layers: 40 }));
  assert.match(await found([path], "weights-unreadable"), /must have shape .* got no such tensor/);
  const taken = [`trainer.default_local_dir=${out}`];
  assert.match(await found(taken, "run-folder-taken"), /one process may write it, got two/);
  release();
  assert.equal(await found(taken, "run-folder-taken"), "nothing");
});
