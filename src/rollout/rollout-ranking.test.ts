import assert from "node:assert/strict";
import { test } from "node:test";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import type { RankedToken, TokenRanking } from "./branch/family/signals.js";
import type { ExpansionRule } from "./rules/registry.js";
import { treesToJsonl } from "./files/tree-jsonl.js";
import type { RolloutOptions } from "./options.js";
import { rollout } from "./rollout.js";
import type { RolloutTree } from "./rollout-tree.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });

/** Small settings of each rule that ranks tokens. */
const small = {
  at2po: { n: 12, initialRollouts: 4, expand: { points: 4 } },
  treerl: { expand: { trees: 2, points: 2, rows: 3, rounds: 2 } },
  appo: { n: 9, initialRollouts: 4, expand: {} },
  "appo-rollout": { n: 9, initialRollouts: 4, expand: {} },
  redraw: { n: 9, initialRollouts: 4, expand: {} },
  fr3e: {
    initialRollouts: 3,
    judge: (trajectories) => trajectories.map(({ text }) => text.includes("a")),
    expand: { rows: 2, points: 2 },
  },
} satisfies Partial<Record<ExpansionRule, RolloutOptions>>;

const grow = (rule: keyof typeof small | "spo-tree", more: RolloutOptions = {}) => {
  const own = rule === "spo-tree" ? {} : small[rule];
  const all = { tools, responseLength: 120, ...own, rule, ...more };
  return rollout(randomTextPolicy(), { prompt: "q" }, all);
};
const bytes = (trees: Iterable<RolloutTree>) => treesToJsonl(trees, { timing: false });

for (const rule of ["treerl", "appo", "appo-rollout", "fr3e", "at2po", "redraw"] as const) {
  test(`${rule}: a function of a token ranks as the signal does whose number it gives`, async () => {
    const more = (signal: "entropy" | TokenRanking): RolloutOptions => ({
      expand: { ...small[rule].expand, signal },
    });
    const named = await grow(rule, more("entropy"));
    const own = await grow(
      rule,
      more(({ entropy }) => entropy),
    );
    assert.equal(bytes([own]).replaceAll('"signal":"own"', '"signal":"entropy"'), bytes([named]));
    assert.notEqual(
      bytes([
        await grow(
          rule,
          more(({ index }) => index),
        ),
      ]),
      bytes([own]),
    );
  });
}

test("a function that ranks tokens sees their text, what is left, and where tools answered", async () => {
  const seen = new Map<number, RankedToken[]>();
  const signal = (token: RankedToken) => {
    const { trajectory, index } = token;
    if (!seen.has(trajectory)) seen.set(trajectory, []);
    seen.get(trajectory)![index] = token;
    return 0;
  };
  const tree = await grow("appo-rollout", { expand: { signal } });
  // A text that was cut may end inside a result.
  for (const { id, text, end } of tree.trajectories) {
    const tokens = seen.get(id);
    if (!tokens || end === "length") continue;
    const written = text.replace(/ ?<result>[^]*?(<\/result>|$)/g, "");
    assert.equal(tokens.map((token) => token.text).join(""), written);
    assert.deepEqual(
      tokens.map(({ left }) => left),
      tokens.map((_, i) => tokens.length - i),
    );
    const results = text.split("<result>").length - 1;
    assert.ok(tokens.every(({ calls }) => calls <= results));
    assert.equal(
      tokens.filter(({ sinceResult }) => sinceResult === 0).length,
      tokens.at(-1)!.calls,
    );
  }
  assert.ok([...seen.values()].some((tokens) => tokens.at(-1)!.calls > 0));
});

test("a function that ranks tokens: refused where it gives no number, in a replay, and beside a rule that ranks none", async () => {
  await assert.rejects(
    grow("treerl", { expand: { signal: () => NaN } }),
    /Cannot roll out: expand.signal must give a finite number for each token, got NaN/,
  );
  const tree = await grow("appo-rollout", { expand: { signal: ({ index }) => index } });
  assert.throws(
    () => tree.replay({}),
    /Cannot replay: expand.signal of rule appo-rollout must be a name, got a function/,
  );
  assert.ok(tree.replay({ expand: { signal: "entropy" } }).points.length > 0);
  await assert.rejects(
    grow("spo-tree", { expand: { signal: () => 0 } as never }),
    /Cannot roll out: .*expand/,
  );
  const forked = await tree.fork(0, { at: 1, n: 3, initialRollouts: 1 });
  assert.equal(forked.trajectories.length, 3);
});

test("redraw: the greatest token of each first trajectory is drawn anew, then the next of each", async () => {
  const tree = await grow("redraw", { expand: { signal: ({ index }) => -Math.abs(index - 3) } });
  const left = tree.trajectories.filter(({ kind }) => kind === "branch");
  const places = left.map(({ parent, chosen }) => [parent, chosen!.score]);
  assert.deepEqual(
    places
      .slice(0, 4)
      .map(([parent]) => parent)
      .sort(),
    [0, 1, 2, 3],
  );
  assert.ok(places.slice(0, 4).every(([, score]) => score === 0));
  assert.equal(places[4]![1], -1);
});

/** Answers of two letters, the first one of two: outcomes differ behind `a` alone. */
const letters = () =>
  new ScriptedPolicy(({ sequence, options: { random } }) => ({
    text:
      sequence < 5
        ? ["ax\u0001", "ay\u0001", "bx\u0001", "by\u0001"][sequence - 1]!
        : `${random.choose(["x", "y"])}\u0001`,
    confidence: 0.5,
  }));

test("redraw, group-mixed: branches stand where the group's outcomes differ, and nowhere else", async () => {
  const bare = {
    rule: "redraw",
    n: 6,
    initialRollouts: 4,
    expand: { signal: "group-mixed" },
  } as const;
  const options = {
    ...bare,
    judge: (rows: readonly { text: string }[]) => rows.map(({ text }) => text.startsWith("ax")),
  } as const;
  const tree = await rollout(letters(), { prompt: "q" }, options);
  const [first, second] = tree.trajectories.filter(({ kind }) => kind === "branch");
  assert.deepEqual(
    [first, second].map((one) => [one!.parent, one!.chosen!.at]),
    [
      [0, 1],
      [1, 1],
    ],
  );
  const q = (1 + 1.2 / 6) / 3;
  assert.ok(Math.abs(first!.chosen!.score - (q * (1 - q)) / (2 + 5)) < 1e-12);
  await assert.rejects(
    rollout(letters(), { prompt: "q" }, bare),
    /Cannot roll out: expand.signal group-mixed .* needs a judge, got none/,
  );
  await assert.rejects(
    rollout(
      letters(),
      { prompt: "q" },
      { rule: "treerl", expand: { signal: "group-mixed" }, judge: options.judge },
    ),
    /Cannot roll out: expand.signal must be one of entropy, .*got "group-mixed"/,
  );
  assert.throws(() => tree.replay({}), /Cannot replay: expand.signal of rule redraw .* outcomes/);
  assert.equal(tree.replay({ expand: { signal: "entropy" } }).points.length, 2);
});
