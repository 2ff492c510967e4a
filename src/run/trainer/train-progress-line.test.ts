import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { ProgressLine, type RunProgress } from "../../base/show/progress-line.js";
import { smallParts } from "./testing/small-run.js";
import { train } from "./train.js";

test("a run tells what its steps do, in lines with the pace and the time left", async () => {
  const told: RunProgress[] = [];
  const parts = await smallParts();
  const onProgress = (progress: RunProgress) => void told.push(progress);
  await train({ ...parts, onProgress }, { folder: await temporaryFolder("arpo-progress") });
  const line = new ProgressLine();
  const lines = told.map((progress) => line.tell(progress));
  assert.equal(lines[0], "validating");
  assert.ok(lines.includes("step 1/4 · rolling out 0/6"));
  assert.ok(lines.includes("step 1/4 · rolling out 6/6"));
  assert.ok(
    lines.some((text) => /^step 3\/4 · updating · [\d.e-]+ s\/step · ETA \d+ s$/.test(text)),
  );
  const doing = told.filter(({ step }) => step === 2).map((one) => one.doing);
  assert.deepEqual(
    [...new Set(doing)],
    ["rolling out", "scoring", "updating", "validating", "saving"],
  );
  const budget = { step: 3, totalSteps: Infinity, progress: 0.25, doing: "updating" };
  assert.match(new ProgressLine().tell(budget), /^step 3 · updating$/);
});
