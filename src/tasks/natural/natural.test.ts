import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf, readPages } from "../../../tests/natural/read-question.js";
import { readStory } from "../../../tests/natural/read-story.js";
import { demonstrationTools } from "../task-tools.js";
import { Random } from "../../base/random/random.js";
import { deepResearch } from "../../reward/rewards/deep-research.js";
import { question, type Task } from "../task.js";
import { demonstrate } from "../tasks/demonstrate.js";
import { createCountry } from "./country.js";
import { naturalTasks } from "./index.js";
import { relations, type RelationName } from "./relations.js";

const levels = [1, 2, 3];
const sizes = { train: 150, test: 60 };
const wordings = (tasks: readonly Task[]) =>
  new Set(tasks.flatMap(({ extra }) => extra["wordings"] as string[]));

for (const [name, make] of Object.entries(naturalTasks)) {
  test(`naturalTasks.${name}() holds out questions, wordings and where they start`, () => {
    for (const level of levels) {
      const { train, test: held } = make({ ...sizes, level });
      assert.deepEqual([train.length, held.length], [sizes.train, sizes.test]);
      const asked = new Set(train.map(question));
      assert.equal(asked.size, train.length);
      assert.ok(held.every((task) => !asked.has(question(task))));
      const shown = wordings(train);
      const unseen = wordings(held);
      assert.deepEqual(
        [...unseen].filter((wording) => shown.has(wording)),
        [],
      );
      const start = (task: Task) =>
        (task.extra["plan"] as { lookUps: { subject: string }[] } | undefined)?.lookUps[0]!.subject;
      const starts = new Set(train.map(start));
      assert.ok(held.every((task) => start(task) === undefined || !starts.has(start(task))));
      const same = wordings(make({ ...sizes, level, unseen: 0 }).test);
      assert.ok([...same].every((wording) => !unseen.has(wording)));
    }
  });

  test(`naturalTasks.${name}() repeats with its seed, and more of one part moves none of the other`, () => {
    const once = make({ ...sizes, seed: 3 });
    assert.deepEqual(make({ ...sizes, seed: 3 }).train, once.train);
    assert.notDeepEqual(make({ ...sizes, seed: 4 }).train, once.train);
    assert.deepEqual(make({ ...sizes, train: 90, seed: 3 }).test, once.test);
  });

  test(`naturalTasks.${name}()'s expert earns the full reward with real search, and less when it errs`, async () => {
    for (const level of levels) {
      const set = make({ train: 45, test: 30, level });
      const tools = demonstrationTools(set);
      const reward = async (corruption: object) => {
        let sum = 0;
        const all = [...set.train, ...set.test];
        for (const [i, task] of all.entries()) {
          const random = Random.from(9).split(i);
          const told = await demonstrate(task, set.expert, tools.run, { random, corruption });
          const response = told.segments.map(({ text }) => text).join("");
          const { score, reason } = deepResearch({ response, groundTruth: task.groundTruth! });
          if (!("decisions" in corruption)) assert.ok(score >= 1, `${question(task)}: ${reason}`);
          sum += Math.min(1, score);
        }
        return sum / all.length;
      };
      assert.equal(await reward({}), 1);
      const spoiled = await reward({ decisions: 0.4, format: 0.2 });
      assert.ok(spoiled < 0.85, String(spoiled));
      await tools.dispose();
    }
  });
}

test("the answers of stories are what a reader of their text alone computes", () => {
  for (const level of levels) {
    const { train, test: held } = naturalTasks.stories({ train: 300, test: 200, level });
    for (const task of [...train, ...held]) {
      assert.equal(String(readStory(question(task))), task.groundTruth, question(task));
    }
  }
});

test("pages state every fact of what they are about once, in words", () => {
  for (const variant of [0, 1]) {
    const { things, pages } = createCountry(variant);
    const known = readPages(pages);
    assert.equal(new Set(pages.map(({ title }) => title)).size, 330);
    for (const { name, facts } of things) {
      for (const [of, value] of Object.entries(facts)) {
        assert.equal(known.get(name)!.get(of), value, `${name}: ${of}`);
      }
    }
  }
});

test("the answers of look-ups and trails are what a reader of question and pages finds", () => {
  const kinds = [
    { make: naturalTasks.pages, level: 1, hops: 1 },
    { make: naturalTasks.trails, level: 1, hops: 2 },
    { make: naturalTasks.trails, level: 2, hops: 3 },
  ];
  for (const { make, level, hops } of kinds) {
    const { train, test: held, pages } = make({ train: 300, test: 150, level });
    const known = readPages(pages!);
    let candidates = 0;
    for (const task of [...train, ...held]) {
      const found = answersOf(question(task), known, hops);
      assert.ok(
        found.has(task.groundTruth as string),
        `${question(task)}: ${[...found].join(", ")}`,
      );
      candidates += found.size;
    }
    // Of 25 answers that three hops from a person may have, the words leave few.
    assert.ok(candidates < 3.5 * 450, `${candidates} candidates for 450 questions`);
  }
});

/** What things are described by. */
const told: [RelationName, RelationName][] = [
  ["river", "founded"],
  ["trade", "birthplace"],
  ["stands", "built"],
  ["makes", "seat"],
  ["author", "published"],
  ["held", "month"],
];

test("a description fits one thing of the country", () => {
  const { things } = createCountry();
  const { train } = naturalTasks.pages({ train: 200, test: 20, level: 2 });
  for (const task of train) {
    const asked = question(task);
    // "The teacher of the baker" tells of a baker.
    const says = (value: string | undefined) => new RegExp(`\\b${value}\\b(?! of the)`).test(asked);
    const ofType = (name: string) =>
      !/bridge|lighthouse|tower|museum|library/.test(asked) ||
      asked.includes(name.toLowerCase().split(" ").at(-1)!);
    const fits = things.filter(
      ({ name, facts }) =>
        told.some((pair) => pair.every((of) => facts[of] !== undefined && says(facts[of]))) &&
        ofType(name),
    );
    const { lookUps } = task.extra["plan"] as { lookUps: { subject: string }[] };
    assert.deepEqual(
      fits.map(({ name }) => name),
      [lookUps[0]!.subject],
      asked,
    );
  }
});

test("naturalTasks refuse dials out of range", () => {
  assert.throws(() => naturalTasks.pages({ level: 4 }), /level must be 1, 2 or 3, got 4/);
  assert.throws(() => naturalTasks.stories({ unseen: 2 }), /unseen must be 0 or 1, got 2/);
  assert.throws(() => naturalTasks.trails({ country: 0.5 }), /country must be an integer/);
});

test("no two relations of a kind are asked for in the same words", () => {
  const names = Object.keys(relations) as RelationName[];
  for (const a of names) {
    for (const b of names) {
      if (a >= b || relations[a].kind !== relations[b].kind) continue;
      const all = ({ direct, clause }: (typeof relations)[RelationName]) =>
        [direct, clause].flatMap(({ seen, held }) => [...seen, ...held] as string[]);
      const both = all(relations[a]).filter((text) => all(relations[b]).includes(text));
      assert.deepEqual(both, []);
    }
  }
});
