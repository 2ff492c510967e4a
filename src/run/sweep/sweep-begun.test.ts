import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { temporaryFolder } from "../../../tests/temporary.js";
import { sweep } from "./sweep.js";
import type { SweepOptions } from "./sweep-options.js";

/** A sweep whose run fails before its first step. */
const failing = (folder: string, ...more: string[]): SweepOptions => ({
  ...{ folder, seeds: [1], preset: "tiny", live: false },
  arms: { fresh: ["data.train_files=no-such-file.jsonl", ...more] },
});

test("a sweep that was begun before a key existed goes on; one with other settings is refused by their names", async () => {
  const folder = temporaryFolder("arpo-sweep-begun");
  assert.equal((await sweep(failing(folder))).failed.length, 1);
  // As an older version left it: its settings lack keys, and what tells them apart was another thing.
  const settings = join(folder, "fresh/seed-1.yaml");
  const { lab, trainer, ...others } = parse(await readFile(settings, "utf8")) as {
    [section: string]: Record<string, unknown>;
  };
  delete lab!["branch_rule"];
  delete trainer!["nnodes"];
  await writeFile(settings, stringify({ ...others, lab, trainer }));
  const kept = { "fresh/seed-1": { print: "of an older version", state: "failed" } };
  await writeFile(join(folder, "sweep.json"), JSON.stringify(kept));
  assert.equal((await sweep(failing(folder))).failed.length, 1);

  await assert.rejects(
    sweep(failing(folder, "actor_rollout_ref.actor.optim.lr=0.5")),
    /fresh\/seed-1 of .* must have the settings that it was begun with, got others in actor_rollout_ref\.actor\.optim\.lr; take/,
  );
});
