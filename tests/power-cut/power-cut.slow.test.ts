// Every cut of a run and of a sweep, resumed to its end.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkAll, checkResumed, checkSwept, checkTrained, someOf, uncutRun } from "./checks.js";
import { survivorsOf } from "./survivors.js";

const skip = process.platform === "linux" ? false : "only Linux names open files";
const again = (program: string, folder: string) => {
  const path = fileURLToPath(new URL(`work/${program}.js`, import.meta.url));
  const { status, stderr, stdout } = spawnSync(process.execPath, [path, folder], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout;
};

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
  const found = survivorsOf("sft");
  for (const survivor of someOf(found, 10)) {
    await checkAll([survivor], async (folder) => {
      const { before } = JSON.parse(again("sft", folder).split("\n")[0]!) as { before: number };
      const told =
        survivor.acknowledged.length === 0 ? 0 : Number(survivor.acknowledged.at(-1)) + 1;
      assert.ok(before >= Math.min(3, told), `resumed after step ${before}, of ${told}`);
    });
  }
});

test("evaluate() asks for no sample again that was told", { skip }, async () => {
  const found = survivorsOf("eval");
  for (const survivor of someOf(found, 5)) {
    await checkAll([survivor], (folder) => {
      const { asked } = JSON.parse(again("eval", folder)) as { asked: number };
      const told = survivor.acknowledged.filter((what) => typeof what === "number").length;
      assert.ok(asked <= 6 - told, `${asked} asked, ${told} told`);
      return Promise.resolve();
    });
  }
});

test("a sweep loses no run that was told, and goes on", { skip }, async () => {
  const found = survivorsOf("sweep");
  await checkAll(found, checkSwept);
  for (const survivor of someOf(found, Math.ceil(found.length / 6))) {
    await checkAll([survivor], (folder) => Promise.resolve(void again("sweep", folder)));
  }
});
