// What the trackio logger writes, before trackio itself. ARPO_LAB_TRACKIO_PYTHON names a Python with trackio.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { parseLenient } from "../../src/formats/import-rollouts.js";
import { trackioDefinition } from "../../src/run/loggers/trackio.js";
import { temporaryFolder } from "../temporary.js";

const python = process.env["ARPO_LAB_TRACKIO_PYTHON"];
const skip = python === undefined ? "ARPO_LAB_TRACKIO_PYTHON names no Python" : false;

// As trackio's dashboard does every few seconds; then what it would show.
const script = `
import json
from trackio import fragments
from trackio.sqlite_storage import SQLiteStorage as s
imported = fragments.import_inbox_dir()
[run] = s.get_runs("p")
print(json.dumps({"imported": imported, "run": run, "logs": s.get_logs("p", run), "config": s.get_run_config("p", run),
    "traces": s.get_traces("p", run), "left": fragments.import_inbox_dir()}, default=str))
`;

interface Shown {
  imported: number;
  run: string;
  logs: Record<string, unknown>[];
  config: Record<string, unknown>;
  traces: { key: string; metadata: object; messages: { content: string }[] }[];
  left: number;
}

test(
  "trackio takes in every step once, with the configuration and the answers",
  { skip },
  async () => {
    const folder = temporaryFolder("trackio");
    const run = { folder, project: "p", run: "first", config: { trainer: { total: 2 } } };
    const shown = (): Shown => {
      const env = { ...process.env, TRACKIO_DIR: join(folder, "trackio"), HF_HUB_OFFLINE: "1" };
      const { status, stdout, stderr } = spawnSync(python!, ["-c", script], {
        encoding: "utf8",
        env,
      });
      assert.equal(status, 0, stderr);
      return parseLenient(stdout.trim().split("\n").at(-1)!) as Shown;
    };
    const logger = await trackioDefinition.open({ ...run, write: () => undefined });
    await logger.log(1, { "critic/score/mean": 0.5, broken: NaN });
    await logger.answers?.(1, [{ input: "6*7?", output: "42", score: 1, reason: "right" }]);
    const first = shown();
    assert.deepEqual([first.imported, first.run, first.left], [2, "first", 0]);
    assert.deepEqual(first.config["trainer"], { total: 2 });
    assert.equal(first.traces[0]!.messages.at(-1)!.content, "42");
    assert.deepEqual(first.traces[0]!.metadata, { reward: 1, reason: "right" });
    const resumed = await trackioDefinition.open({ ...run, write: () => undefined });
    await resumed.log(1, { "critic/score/mean": 0.5 });
    await resumed.log(2, { "critic/score/mean": 0.75 });
    const { logs } = shown();
    const scores = logs.flatMap((row) => {
      const score = row["critic/score/mean"];
      return score === undefined ? [] : [[row["step"], score]];
    });
    assert.deepEqual(scores, [
      [1, 0.5],
      [2, 0.75],
    ]);
  },
);
