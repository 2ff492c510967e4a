// What happens to a run whose files were damaged: it is found before anything is trained, and said with a
// way out.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadDecoder } from "../../../src/model/load/load-decoder.js";
import { loadModel } from "../../../src/model/load/load-model.js";
import { loadTrees } from "../../../src/rollout/files/tree-files.js";
import { smallParts as parts } from "../../../src/run/trainer/testing/small-run.js";
import { train } from "../../../src/run/trainer/train.js";
import { readSealed, writeSealed } from "../../../src/model/files/sealed.js";

const base = mkdtempSync(join(tmpdir(), "damaged-"));
const whole = join(base, "whole");
after(() => rmSync(base, { recursive: true }));
const critic = ["algorithm.adv_estimator=gae"];
const run = async (folder: string, more: string[] = []): Promise<string[]> => {
  const told: string[] = [];
  const made = await parts([...critic, ...more]);
  await train(made, { folder, warn: (message) => told.push(message) });
  return told;
};
/** A run of two checkpoints, of which the later is not its end. */
before(async () => {
  await run(whole, ["trainer.total_training_steps=4"]);
});
const goOn = ["trainer.total_training_steps=5"];
let copies = 0;
function copy(): string {
  const folder = join(base, `copy ${++copies}`);
  cpSync(whole, folder, { recursive: true });
  return folder;
}

const last = "global_step_4";
const files = [
  "actor/model.safetensors",
  "critic/model.safetensors",
  "actor-optimizer.safetensors",
  "critic-optimizer.safetensors",
  "actor/config.json",
  "state.json",
  "log.jsonl",
];
const damages: Record<string, (path: string) => void> = {
  "a flipped bit": (path) => {
    const bytes = readFileSync(path);
    const at = bytes.length - 3;
    bytes[at] = bytes[at]! ^ 4;
    writeFileSync(path, bytes);
  },
  "a flipped bit in the middle": (path) => {
    const bytes = readFileSync(path);
    const at = bytes.length >> 1;
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
  },
  "a cut": (path) => truncateSync(path, statSync(path).size >> 1),
  "an emptied file": (path) => truncateSync(path, 0),
  "a longer file": (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.of(0)])),
};

for (const [damage, hurt] of Object.entries(damages)) {
  test(`${damage} in any file of a checkpoint is found, and the last whole one is named`, async () => {
    for (const file of files) {
      const folder = copy();
      const path = join(folder, last, file);
      assert.ok(existsSync(path), file);
      hurt(path);
      await assert.rejects(
        run(folder, goOn),
        (error: Error) =>
          error.message.startsWith("Cannot resume: ") &&
          error.message.includes(`${join(last, file)} must be as it was saved, got`) &&
          error.message.includes(`trainer.resume_from_path=${join(folder, "global_step_2")}`),
        file,
      );
      rmSync(folder, { recursive: true });
    }
  });
}

test("a missing file of a checkpoint is found, and the run continues from the one that is named", async () => {
  const folder = copy();
  rmSync(join(folder, last, "actor-optimizer.safetensors"));
  const said: string[] = await run(folder, goOn).then(
    () => assert.fail("it went on"),
    (error: Error) =>
      [/(trainer\.resume_mode=\S+) (trainer\.resume_from_path=.*)$/.exec(error.message)!].flatMap(
        ([, mode, path]) => [mode!, path!],
      ),
  );
  await run(folder, [...goOn, ...said]);
  assert.ok(readdirSync(folder).includes("global_step_5"));
});

test("a checkpoint without its state.json is refused, and the last whole one is named", async () => {
  const folder = copy();
  rmSync(join(folder, last, "state.json"));
  await assert.rejects(run(folder, goOn), (error: Error) => {
    assert.match(
      error.message,
      /global_step_4 must be a checkpoint of this program, got no state\.json; the last whole checkpoint is /,
    );
    return error.message.endsWith(`resume_from_path=${join(folder, "global_step_2")}`);
  });
});

test("a damaged line among the checksums of trees is told", async () => {
  const folder = copy();
  const path = join(folder, "tree_sums.jsonl");
  const lines = readFileSync(path, "utf8").split("\n");
  lines[1] = lines[1]!.replace('"sha256"', '"shb256"');
  writeFileSync(path, lines.join("\n"));
  const told = await run(folder, goOn);
  assert.match(
    told.join("\n"),
    /tree_sums\.jsonl of .* line 2; trees of those lines are not checked/,
  );
});

test("where no checkpoint is whole, beginning anew is named", async () => {
  const folder = copy();
  for (const step of [2, 4]) truncateSync(join(folder, `global_step_${step}`, "state.json"), 9);
  await assert.rejects(
    run(folder, goOn),
    /state\.json must be as it was saved, got a file that was cut.*resume_mode=disable/,
  );
});

const logs: Record<string, (path: string) => void> = {
  "cut in a line": (path) => truncateSync(path, statSync(path).size - 20),
  "cut to its half": (path) => truncateSync(path, statSync(path).size >> 1),
  emptied: (path) => truncateSync(path, 0),
  missing: (path) => rmSync(path),
  "with a line of rubbish": (path) =>
    writeFileSync(path, readFileSync(path, "utf8").replace(/\n\{"step":2.*\n/, "\n\u0000\u0000\n")),
};
for (const [how, hurt] of Object.entries(logs)) {
  test(`a log of metrics that is ${how} is told and rebuilt`, async () => {
    const folder = copy();
    const path = join(folder, "metrics.jsonl");
    const expected = readFileSync(path, "utf8");
    hurt(path);
    const told = await run(folder, goOn);
    assert.match(told.join("\n"), /metrics\.jsonl of .* are taken from the checkpoint's copy/);
    assert.ok(readFileSync(path, "utf8").startsWith(expected));
  });
}

test("a log that is whole is resumed without a word", async () => {
  const told = await run(copy(), goOn);
  assert.deepEqual(
    told.filter((message) => message.includes("metrics.jsonl")),
    [],
  );
});

for (const [damage, hurt] of Object.entries(damages)) {
  test(`${damage} in trees of a run is found when they are loaded, and told on resume`, async () => {
    const folder = copy();
    const path = join(folder, "rollouts", "2.jsonl");
    assert.ok((await loadTrees(path)).length > 0);
    hurt(path);
    await assert.rejects(loadTrees(path), /2\.jsonl must be as it was saved, got/);
    const told = await run(folder, goOn);
    const found = told.filter((message) => message.includes("must be as it was saved"));
    assert.equal(found.length, 1, told.join("\n"));
    assert.match(found[0]!, /^rollouts\/2\.jsonl of .*; training does not need it$/);
    assert.ok((await loadTrees(join(folder, "rollouts", "5.jsonl"))).length > 0);
  });

  test(`${damage} in a checkpoint's weights is found by who loads them`, async () => {
    const folder = copy();
    for (const of of ["actor", "critic"]) {
      const path = join(folder, last, of);
      (await loadModel(path)).dispose();
      // What a person may edit is not sealed against them.
      const config = readFileSync(join(path, "config.json"), "utf8");
      writeFileSync(join(path, "config.json"), `${config}\n`);
      (await loadModel(path)).dispose();
      hurt(join(path, "model.safetensors"));
      const refused = /Cannot load a model: .*must be as it was saved, got .*another checkpoint/;
      await assert.rejects(loadModel(path), refused);
      if (of === "actor") await assert.rejects(loadDecoder(path, { dtype: "bfloat16" }), refused);
    }
  });
}

test("state of an earlier version, without sums, is read", async () => {
  const folder = join(base, "old");
  cpSync(join(whole, last), folder, { recursive: true });
  writeFileSync(join(folder, "state.json"), '{"trainer": {"step": 4}, "best": null}\n');
  assert.deepEqual(await readSealed(folder, "state.json"), { trainer: { step: 4 }, best: null });
  for (const text of ["[]", "null", "3", "{", " "]) {
    writeFileSync(join(folder, "state.json"), text);
    await assert.rejects(readSealed(folder, "state.json"), /state\.json must be as it was saved/);
  }
  await writeSealed(folder, "state.json", { a: 1 });
  assert.equal((await readSealed<{ a: number }>(folder, "state.json"))!.a, 1);
});
