import assert from "node:assert/strict";
import { test } from "node:test";
import {
  makeEnvironment,
  methodOf,
  type EnvironmentSource,
} from "../../environments/environment.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Random } from "../../base/random/random.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { tinyTokenizer } from "../../run/tiny/tiny-tokenizer.js";
import { demonstrateIn } from "./demonstrate-in.js";
import { environments } from "./index.js";
import { distances, drawMaze, Maze, type MazePlan, next, ways } from "./maze.js";
import { Shop } from "./shop.js";
import type { Task } from "../task.js";

const signal = new AbortController().signal;
const random = Random.from(1);

/** What an instance says to the calls of a demonstration, and what it then gives. */
async function played(source: EnvironmentSource, task: Task, calls: readonly [string, string][]) {
  const world = await makeEnvironment(source);
  await world.reset(task, { random, signal });
  let earned = 0;
  const texts: string[] = [];
  for (const [tag, input] of calls) {
    const result = await methodOf(world, tag)(input, { signal, timeoutMs: 1000, attempt: 0 });
    assert.ok(typeof result === "object");
    earned += result.reward!;
    texts.push(result.text);
  }
  const end = await world.reward!({ response: "", end: "done" });
  assert.ok(typeof end === "object");
  return { texts, earned, end, done: world.done };
}

const callsOf = (segments: readonly { kind: string; text: string }[]) =>
  segments.flatMap(({ text }) =>
    [...text.matchAll(/<(go|look|buy|return)>(.*?)<\/\1>/g)].map(
      ([, tag, input]) => [tag!, input!] as [string, string],
    ),
  );

for (const [name, make] of Object.entries(environments)) {
  test(`the expert of ${name} earns everything, in texts that are short for the tiny tokenizer`, async () => {
    const set = make({ seed: 3, train: 40, test: 8 });
    const tokenizer = new HfTokenizer(tinyTokenizer());
    let longest = 0;
    for (const task of [...set.train, ...set.test]) {
      const { task: told, segments } = await demonstrateIn(set, task, { random });
      const { end, earned } = await played(set.environment!, task, callsOf(segments));
      assert.equal(end.score, 1, `${task.id}: ${end.reason}`);
      assert.ok(Math.abs(earned - 1) < 1e-9, "what the calls earn is what the end is worth");
      const text = told.prompt[0]!.content + segments.map((segment) => segment.text).join("");
      longest = Math.max(longest, tokenizer.encode(text).length);
    }
    assert.ok(longest <= 300, `${longest} tokens must fit the tiny model's context of 512`);
  });

  test(`the tasks of ${name} are its seed's, of graded difficulty, and held out`, () => {
    const ids = (seed: number, train: number) => make({ seed, train, test: 16 });
    assert.deepEqual(ids(1, 20).test, ids(1, 60).test);
    assert.deepEqual(ids(1, 20).train, ids(1, 60).train.slice(0, 20));
    assert.notDeepEqual(ids(2, 20).train, ids(1, 20).train);
    const plans = ids(1, 60);
    const all = [...plans.train, ...plans.test].map(({ extra }) => JSON.stringify(extra["plan"]));
    assert.equal(new Set(all).size, all.length);
    const grades = plans.train.map(({ extra }) => extra["size"] ?? extra["things"]);
    assert.equal(new Set(grades).size, 2);
  });

  test(`an expert of ${name} that errs earns less`, async () => {
    const set = make({ seed: 3, train: 60, test: 1 });
    let sum = 0;
    for (const [i, task] of set.train.entries()) {
      const { segments } = await demonstrateIn(set, task, {
        ...{ random: random.split(i), corruption: { decisions: 0.3 }, mostCalls: 8 },
      });
      sum += (await played(set.environment!, task, callsOf(segments))).end.score;
    }
    assert.ok(sum / 60 < 0.95 && sum / 60 > 0.1, `${sum / 60}`);
  });

  test(`trees in ${name} are the same by clones and by repeated calls`, async () => {
    const set = make({ seed: 5, train: 6, test: 1 });
    const things = ["cup", "lamp", "rope", "bag", "pen"];
    const goods = ["red", "blue", "green"].flatMap((colour) =>
      things.map((thing) => `${colour} ${thing}`),
    );
    const policy = new ScriptedPolicy(({ options: { random: own } }) => {
      const tag = own.choose(name === "maze" ? ["go"] : ["look", "buy", "return"]);
      const input = own.choose(name === "maze" ? ["n", "e", "s", "West"] : goods);
      const text = own.uniform() < 0.1 ? "\u0001" : `<${tag}>${input}</${tag}>`;
      return { text, confidence: 0.3 + 0.7 * own.uniform() };
    });
    const Shipped = set.environment as new () => Maze | Shop;
    const replayed = () => Object.assign(new Shipped(), { clone: undefined });
    const options = { ...rolloutPresets.arpo, callLimit: 10, beamSize: 3, seed: 2 };
    const grow = (environment: EnvironmentSource) =>
      rollout(policy, set.train, { ...options, environment });
    const trees = await grow(Shipped);
    assert.ok(trees.some(({ trajectories: rows }) => rows.some(({ kind }) => kind === "branch")));
    const bytes = treesToJsonl(trees, { timing: false }).replaceAll(`"name":"${Shipped.name}"`, "");
    const other = treesToJsonl(await grow(replayed), { timing: false });
    assert.equal(other.replaceAll('"name":"replayed"', ""), bytes);
    const { trajectories: rows } = await score(trees);
    assert.ok(new Set(rows.map((row) => row.score.score)).size > 1);
  });
}

test("there are sixteen mazes of four cells: by default they are shared out", () => {
  const { train, test: held } = environments.maze({ size: 2 });
  assert.deepEqual([train.length, held.length], [8, 8]);
  assert.throws(
    () => environments.maze({ size: 2, train: 9, test: 8 }),
    /distinct train questions/,
  );
});

test("a maze has one way between any two cells, and its exit is the farthest", () => {
  for (let i = 0; i < 50; i++) {
    const plan: MazePlan = drawMaze(Random.from(i), 2 + (i % 4));
    const cells = plan.size ** 2;
    const doors = Array.from({ length: cells }, (_, at) => ways(plan, at).length);
    assert.equal(
      doors.reduce((a, b) => a + b, 0),
      2 * (cells - 1),
    );
    const from = distances(plan, plan.start);
    assert.ok(from.every(Number.isFinite));
    assert.equal(from[plan.exit], Math.max(...from));
    for (let at = 0; at < cells; at++) {
      for (const way of ways(plan, at)) {
        assert.ok(
          ways(plan, next(plan, at, way)!).some(
            (back) => next(plan, next(plan, at, way)!, back) === at,
          ),
        );
      }
    }
  }
});

test("a shop refuses what cannot be, and gives money back", async () => {
  const { train } = environments.shop({ train: 30, test: 1, things: 1 });
  const task = train.find(({ extra }) =>
    (extra["plan"] as { asked: string[] }).asked[0]!.startsWith("a "),
  )!;
  const { plan } = task.extra as unknown as {
    plan: { wanted: string[]; goods: { thing: string; price: number }[]; purse: number };
  };
  const [wanted] = plan.wanted;
  const dear = plan.goods.find(({ price }) => price > plan.purse);
  const { texts, earned, end } = await played(Shop, task, [
    ["buy", "golden cup"],
    ["buy", dear?.thing ?? "golden cup"],
    ["return", wanted!],
    ["buy", wanted!],
    ["return", wanted!],
    ["buy", wanted!.toUpperCase()],
  ]);
  assert.equal(texts[0], "There is no such thing.");
  assert.equal(texts[1], dear ? "You cannot pay that." : "There is no such thing.");
  assert.equal(texts[2], "You have no such thing.");
  assert.equal(texts[4], `Returned. ${plan.purse} left.`);
  assert.deepEqual([earned, end.score, end.reason], [1, 1, `bought ${wanted}`]);
});

test("tasks of something else are refused", () => {
  assert.throws(
    () => new Maze().reset({ prompt: "q" }),
    /Cannot reset a maze: the task must hold a plan, got an object/,
  );
  assert.throws(
    () => new Shop().reset(null),
    /Cannot reset a shop: the task must hold a plan, got null/,
  );
  assert.throws(() => new Maze().go("north"), /it must have been reset/);
  assert.throws(() => environments.maze({ size: 9 }), /size must be from 2 to 6, got 9/);
  assert.throws(() => environments.shop({ things: 4 }), /things must be from 1 to 3, got 4/);
});
