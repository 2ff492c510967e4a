import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { trackioDefinition } from "./trackio.js";

interface Fragment {
  project: string;
  run: string;
  run_id: string;
  step: number;
  log_id: string;
  metrics: Record<string, unknown>;
  config: Record<string, unknown>;
}

const open = (folder: string) =>
  trackioDefinition.open({
    ...{ folder, project: "p", run: "first", group: "seeds", config: { trainer: { total: 2 } } },
    write: () => undefined,
  });

/** What stands in the inbox, by the files' names. */
function inboxOf(folder: string): Record<string, Fragment> {
  const inbox = join(folder, "trackio", "inbox");
  const found = readdirSync(inbox).flatMap((writer) =>
    readdirSync(join(inbox, writer)).map((name): [string, Fragment] => [
      name,
      JSON.parse(readFileSync(join(inbox, writer, name), "utf8")) as Fragment,
    ]),
  );
  return Object.fromEntries(found);
}

test("trackio: a fragment for each step, and the answers of a validation as traces", async () => {
  const folder = temporaryFolder("trackio");
  const logger = await open(folder);
  await logger.log(1, { "critic/score/mean": 0.5, broken: NaN, much: Infinity });
  await logger.answers?.(1, [{ input: "6*7?", output: "42", score: 1, reason: "right" }]);
  const first = inboxOf(folder);
  assert.deepEqual(Object.keys(first).sort(), ["00000001-answers.jsonl", "00000001-metrics.jsonl"]);
  const { project, run, step, metrics, config, run_id: id } = first["00000001-metrics.jsonl"]!;
  assert.deepEqual([project, run, step, config["_Group"]], ["p", "first", 1, "seeds"]);
  assert.deepEqual(config["trainer"], { total: 2 });
  assert.deepEqual(metrics, { "critic/score/mean": 0.5, broken: "NaN", much: "Infinity" });
  assert.deepEqual(first["00000001-answers.jsonl"]!.metrics["answers"], [
    {
      _type: "trackio.trace",
      messages: [
        { role: "user", content: "6*7?" },
        { role: "assistant", content: "42" },
      ],
      metadata: { reward: 1, reason: "right" },
    },
  ]);

  // The dashboard takes fragments away. A resumed run is the same run, and a step that it repeats the same record.
  rmSync(join(folder, "trackio", "inbox"), { recursive: true });
  const resumed = await open(folder);
  await resumed.log(1, { "critic/score/mean": 0.5 });
  await resumed.log(2, { "critic/score/mean": 0.6 });
  const again = inboxOf(folder);
  assert.equal(again["00000001-metrics.jsonl"]!.log_id, first["00000001-metrics.jsonl"]!.log_id);
  assert.equal(again["00000002-metrics.jsonl"]!.run_id, id);
  assert.equal(new Set([...Object.values(first), ...Object.values(again)].map((one) => one.log_id)).size, 3); // prettier-ignore
});
