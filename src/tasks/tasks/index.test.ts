import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { deepResearch } from "../../reward/rewards/deep-research.js";
import { question } from "../task.js";
import { valueOf } from "./calc.js";
import { demonstrate } from "./demonstrate.js";
import { tasks } from "./index.js";
import { sentence, world } from "./world.js";

/** A perfect search: the page that states the asked fact, among two that do not. */
const run = (tag: string, input: string) => {
  if (tag === "python") return String(valueOf(input));
  const [relation, subject] = input.split(" of ");
  const found = world.facts.find((f) => f.relation === relation && f.subject === subject);
  const pages = [world.facts[3]!, found ?? world.facts[5]!, world.facts[8]!];
  return pages.map((page, i) => `Page ${i + 1}: ${sentence(page)}`).join("\n");
};

test("valueOf() multiplies before it adds", () => {
  assert.equal(valueOf("2 + 3 * 4 - 10"), 4n);
  assert.equal(valueOf("2-3*4"), -10n);
  assert.equal(valueOf("99999*99999*99999"), 99999n ** 3n);
});

for (const make of Object.values(tasks)) {
  const set = make({ seed: 3, train: 40, test: 16 });

  test(`tasks.${set.name}() holds out its test questions and repeats with its seed`, () => {
    const train = new Set(set.train.map(question));
    assert.equal(train.size, 40);
    assert.ok(set.test.every((task) => !train.has(question(task))));
    assert.deepEqual(make({ seed: 3, train: 40, test: 16 }).train, set.train);
    assert.notDeepEqual(make({ seed: 4, train: 40, test: 16 }).train, set.train);
  });

  test(`tasks.${set.name}()'s expert earns the full reward, and less when corrupted`, async () => {
    const reward = async (corruption: object) => {
      let sum = 0;
      for (const [i, task] of set.train.entries()) {
        const random = Random.from(9).split(i);
        const { segments } = await demonstrate(task, set.expert, run, { random, corruption });
        const response = segments.map((s) => s.text).join("");
        sum += deepResearch({ response, groundTruth: task.groundTruth }).score;
      }
      return sum / set.train.length;
    };
    const best = set.tools.length === 2 ? 1.1 : 1;
    assert.ok(Math.abs((await reward({})) - best) < 1e-9);
    const spoiled = await reward({ decisions: 0.3, format: 0.2 });
    assert.ok(spoiled < 0.8 && spoiled > -0.8, String(spoiled));
  });
}

test("tasks.calc() refuses dials out of range and more questions than there are", () => {
  assert.throws(() => tasks.calc({ digits: 9 }), /digits must be from 1 to 6 .* got 9 and 3/);
  assert.throws(() => tasks.lookup({ train: 400 }), /400 distinct train questions must exist/);
});
