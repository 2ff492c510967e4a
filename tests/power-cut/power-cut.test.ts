// A power cut: whatever was not synced is gone. Every cut is looked at; some runs are resumed here, all of them in
// the slow suite.
import { test } from "node:test";
import {
  checkAll,
  checkContents,
  checkEvaluated,
  checkLedgers,
  checkResumed,
  checkTrained,
  checkTuned,
  someOf,
  uncutRun,
} from "./checks.js";
import { survivorsOf } from "./survivors.js";

// Which file an open one is, and when it was made, is read as Linux has it.
const skip = process.platform === "linux" ? false : "only Linux names open files";

test(
  "train() loses no step that the next one followed, and resumes to the same bytes",
  { skip },
  async () => {
    const found = survivorsOf("train");
    await checkAll(found, checkTrained);
    const expected = await uncutRun();
    const few = someOf(found, Math.ceil(found.length / 5));
    for (const survivor of few)
      await checkAll([survivor], (folder) => checkResumed(folder, survivor, expected));
  },
);

test("fine-tuning loses no step that was told", { skip }, async () => {
  await checkAll(survivorsOf("sft"), checkTuned);
});

test("evaluate() loses no sample that was told, and no report", { skip }, async () => {
  await checkAll(survivorsOf("eval"), checkEvaluated);
});

test("the contents server loses no answered change", { skip }, async () => {
  const found = survivorsOf("contents");
  await checkAll(found, (folder, survivor) => checkContents(folder, survivor, found));
});

test(
  "notebooks, the list of jobs and caches of searches are there once they are written",
  { skip },
  async () => {
    await checkAll(survivorsOf("ledgers"), checkLedgers);
  },
);
