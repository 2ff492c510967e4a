// Every cut of a run and of a sweep, resumed to its end.
import { test } from "node:test";
import {
  checkAll,
  checkEvaluatedAgain,
  checkResumed,
  checkSwept,
  checkSweptAgain,
  checkTrained,
  checkTunedAgain,
  someOf,
  uncutRun,
} from "./checks.js";
import { survivorsOf } from "./survivors.js";

const skip = process.platform === "linux" ? false : "only Linux names open files";

test(
  "train() resumes from every cut to the same bytes, also with two checkpoints kept",
  { skip },
  async () => {
    const expected = await uncutRun();
    for (const more of [[], ["trainer.max_actor_ckpt_to_keep=2"]]) {
      const found = survivorsOf("train", ...more);
      await checkAll(found, checkTrained);
      await checkAll(found, (folder, survivor) => checkResumed(folder, survivor, expected));
    }
  },
);

test("fine-tuning resumes from every tenth cut", { skip }, async () => {
  await checkAll(someOf(survivorsOf("sft"), 10), checkTunedAgain);
});

test("evaluate() asks for no sample again that was told", { skip }, async () => {
  await checkAll(someOf(survivorsOf("eval"), 5), checkEvaluatedAgain);
});

test("a sweep loses no run that was told, and goes on", { skip }, async () => {
  const found = survivorsOf("sweep");
  await checkAll(found, checkSwept);
  await checkAll(someOf(found, Math.ceil(found.length / 6)), checkSweptAgain);
});
