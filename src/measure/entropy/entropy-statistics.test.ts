import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { callConcentration } from "./call-concentration.js";
import { entropyByDistance } from "./entropy-by-distance.js";
import { entropyContent } from "./entropy-content.js";
import { entropyOutcome, rankCorrelation } from "./entropy-outcome.js";
import { entropyRise, recordedRise } from "./entropy-rise.js";
import { entropyStatistics } from "./entropy-statistics.js";
import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";
import type { ProfiledTree } from "./model-tokens.js";

const tokenizer = new CodePointTokenizer();
const close = (a: number | undefined, b: number) =>
  assert.ok(a !== undefined && Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

/** A node by hand: its text, and the entropy of each of its characters. */
type Hand = [
  parent: number,
  kind: TreeNode["kind"],
  trajectory: number,
  text: string,
  values?: number[],
];

function treeOf(
  hands: Hand[],
  trajectories: { leaf: number; parent?: number; from?: number }[],
  id = "p",
) {
  const nodes = hands.map(([parent, kind, trajectory, text, values = []], n): TreeNode => {
    const tokens = Int32Array.from(tokenizer.encode(text));
    const stop = /<\/\w+>$/.exec(text)?.[0];
    return {
      ...{ id: n, parent, kind, trajectory, round: 0, tokens, text },
      logprobs: Float32Array.from(values, (value) => -2 * value),
      entropies: Float32Array.from(values),
      ...(kind === "model" ? { entropy: values[0] ?? 0 } : {}),
      ...(kind === "model" && stop !== undefined ? { stop, finish: "stop" as const } : {}),
    };
  });
  return {
    ...{
      task: { ...{ id }, prompt: "q" },
      index: 0,
      policy: "hand",
      eosIds: [1],
      padId: 0,
      cutTexts: {},
    },
    prompt: { text: "q", tokens: Int32Array.of(113) },
    nodes,
    trajectories: trajectories.map(({ leaf, parent = -1, from = -1 }, trajectory) => ({
      ...{ id: trajectory, round: 0, parent, from, leaf, calls: 0, end: "answer" as const },
      kind: parent < 0 ? ("initial" as const) : ("branch" as const),
    })),
    config: { baseline: "own", sampling: {} } as ProfiledTree["config"],
    tokenizer,
  } satisfies ProfiledTree;
}

// "ab<c>1</c>": the call opens at the third token; then "xyz" after the result.
const thinks = [1, 1, 2, 2, 2, 2, 2, 2, 2, 2];
const simple = () =>
  treeOf(
    [
      [-1, "model", 0, "ab<c>1</c>", thinks],
      [0, "tool", 0, "<result>1</result>"],
      [1, "model", 0, "xyz", [6, 4, 2]],
    ],
    [{ leaf: 2 }],
  );

test("entropyRise() compares the tokens after a result with the trajectory's others, and with its first", () => {
  const { againstRest, againstStart } = entropyRise(simple(), { k: 2 });
  // Within 2 tokens: (6 + 4) / 2. Others: ten before the call (18) and the last (2), eleven in all.
  close(againstRest.value, 5 - 20 / 11);
  close(againstStart.value, 5 - 1);
  assert.deepEqual([againstRest.count, againstRest.low], [1, undefined], "one prompt: no interval");
  const surprisal = entropyRise(simple(), { k: 2, signal: "surprisal" });
  close(surprisal.againstStart.value, 2 * (5 - 1));
});

test("entropyRise() counts what trajectories share once", () => {
  const { nodes } = simple();
  const tree = treeOf(
    [
      ...nodes.map(({ parent, kind, trajectory, text, entropies }): Hand => [
        ...([parent, kind, trajectory, text] as const),
        [...entropies],
      ]),
      [1, "model", 1, "uv", [3, 3]],
    ],
    [{ leaf: 2 }, { leaf: 3, parent: 0, from: 1 }],
  );
  const { againstRest } = entropyRise(tree, { k: 2 });
  close(againstRest.value, (5 - 20 / 11 + (3 - 18 / 10)) / 2);
  assert.equal(againstRest.count, 2);
  const { tokens, mean } = entropyByDistance(tree);
  assert.equal(tokens, 15);
  close(mean, (18 + 12 + 6) / 15);
});

test("what cannot be told is undefined, with the reason", () => {
  const silent = treeOf([[-1, "model", 0, "abc", [1, 1, 1]]], [{ leaf: 0 }]);
  const { rise, recorded, concentration, text } = entropyStatistics(silent);
  assert.equal(rise.againstRest.value, undefined);
  assert.match(rise.againstRest.why!, /no trajectory has a known entropy/);
  assert.deepEqual([recorded.value, recorded.count], [undefined, 0]);
  assert.equal(concentration.concentration.value, undefined);
  assert.match(text, /undefined \(no token stands at a call\)/);
  const { tokenizer: known, ...nameless } = simple();
  assert.ok(known);
  assert.match(callConcentration(nameless).concentration.why!, /give the tokenizer/);
  assert.equal(entropyContent(nameless).top, undefined);
  assert.ok(entropyByDistance(nameless).before.every(({ mean }) => mean === undefined));
  assert.equal(callConcentration(nameless, { tokenizer }).concentration.why, undefined);
  const mute = simple();
  mute.nodes[2]!.entropies.fill(NaN);
  assert.equal(entropyRise(mute).againstRest.value, undefined);
  assert.equal(entropyOutcome(simple(), { trajectories: [] }).correlation.value, undefined);
});

test("entropyByDistance() knows how far results and calls are", () => {
  const { after, before } = entropyByDistance(simple(), { distances: 4 });
  assert.deepEqual(
    after.map(({ mean }) => mean),
    [6, 4, 2, undefined],
  );
  // The tag opens at the third token, "a" stands two before it, and no call follows.
  assert.deepEqual(
    before.map(({ mean, tokens }) => [mean, tokens]),
    [
      [2, 1],
      [1, 1],
      [1, 1],
      [undefined, 0],
    ],
  );
});

test("callConcentration() is what counting by hand gives", () => {
  // Greatest 2 of 13: 6 and 4, both after the result. At calls with k = 1: a, b and < before the call
  // (b at most 1: "b" and "<"), "x" after the result.
  const { concentration, topAtCalls, allAtCalls, places, unevenness } = callConcentration(
    simple(),
    {
      ...{ k: 1, share: 2 / 13, zScore: false },
    },
  );
  close(topAtCalls, 1 / 2);
  close(allAtCalls, 3 / 13);
  close(concentration.value, 13 / 6);
  assert.deepEqual(
    places.flatMap((n, i) => (n > 0 ? [i] : [])),
    [3, 10],
    "the first and the middle third of three",
  );
  close(unevenness, 1 / 2);
});

test("callConcentration() is 1 where all tokens are taken", () => {
  close(callConcentration(simple(), { share: 1 }).concentration.value, 1);
});

test("entropyContent() tells tags, words, digits and blanks apart, over several tokens", () => {
  const { all } = entropyContent(
    treeOf([[-1, "model", 0, "ab 1,<c>2</c>", new Array<number>(13).fill(1)]], [{ leaf: 0 }]),
  );
  const count = Object.fromEntries(Object.entries(all!).map(([kind, part]) => [kind, 13 * part]));
  for (const [kind, n] of Object.entries({
    words: 2,
    blank: 1,
    digits: 2,
    punctuation: 1,
    tags: 7,
  }))
    close(count[kind], n);
});

test("tokens that nobody drew are left out unless asked for", () => {
  const tree = treeOf(
    [
      [-1, "model", 0, "ab", [1, 1]],
      [0, "end", 0, "\u0001", [9]],
    ],
    [{ leaf: 1 }],
  );
  assert.equal(entropyByDistance(tree).tokens, 2);
  assert.equal(entropyByDistance(tree, { forced: true }).tokens, 3);
  tree.nodes[0]!.logprobs[1] = NaN;
  assert.equal(entropyByDistance(tree).tokens, 1);
});

test("entropyOutcome() ranks forks by their signal and what they changed", () => {
  const forked = (value: number, index: number) => ({
    ...treeOf(
      [
        [-1, "model", 0, "a", [1]],
        [0, "model", 0, "b", [value]],
        [0, "model", 1, "c", [5]],
      ],
      [{ leaf: 1 }, { leaf: 2, parent: 0, from: 0 }],
    ),
    index,
  });
  const trees = [3, 1, 2].map(forked);
  const scores = (changes: number[]) => ({
    trajectories: changes.flatMap((change, tree) =>
      [0, change].map((score, trajectory) => ({
        trajectory: { tree, id: trajectory },
        score: { score },
      })),
    ),
  });
  const { correlation, forks } = entropyOutcome(trees, scores([0.9, -0.1, 0.5]));
  close(correlation.value, 1);
  assert.deepEqual(
    forks.map(({ value }) => value),
    [3, 1, 2],
  );
  close(
    entropyOutcome(trees, scores([0.1, 0.9, 0.5]), { change: "variance" }).correlation.value,
    -1,
  );
  assert.match(entropyOutcome(trees, scores([1, 1, 1])).correlation.why!, /do not differ/);
  const opposite = entropyOutcome(trees, scores([0.9, 0.1, 0.5]), {
    at: (tree, node) => -tree.nodes[node]!.entropies[0]!,
  });
  close(opposite.correlation.value, -1);
});

test("rankCorrelation() averages ties", () => {
  close(rankCorrelation([1, 2, 2, 4], [1, 3, 2, 4]), 4.5 / Math.sqrt(4.5 * 5));
  assert.equal(rankCorrelation([1, 1], [1, 2]), undefined);
  assert.equal(rankCorrelation([1], [1]), undefined);
});

const tools = new ToolSet([calculator()]);
const grow = (options = {}) =>
  rollout(
    randomTextPolicy(),
    Array.from({ length: 6 }, (_, i) => ({ prompt: `q${i}`, id: `t${i}` })),
    { ...rolloutPresets.arpo, n: 8, initialRollouts: 8, beamSize: 1, tools, seed: 5, ...options },
  );

test("on trees that do not branch the statistics are those of the trajectories", async () => {
  const trees = await grow();
  const k = 6;
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const trajectories = trees.flatMap((tree) =>
    tree.selected.flatMap(({ written, entropies }) => {
      const [near, rest]: [number[], number[]] = [[], []];
      let after = Infinity;
      written.forEach((own, t) => {
        if (!own) after = 0;
        else if (!Number.isNaN(entropies[t])) (after++ < k ? near : rest).push(entropies[t]!);
      });
      return near.length > 0 && rest.length > 0 ? [mean(near) - mean(rest)] : [];
    }),
  );
  const { againstRest } = entropyRise(trees, { k });
  assert.equal(againstRest.count, trajectories.length);
  close(againstRest.value, mean(trajectories));
  assert.ok(againstRest.low! < againstRest.value! && againstRest.value! < againstRest.high!);
  const rounds = trees.flatMap((tree) =>
    tree.selected.flatMap(({ nodes }) => {
      const own = nodes.map((id) => tree.nodes[id]!).filter(({ kind }) => kind === "model");
      return own.slice(1).map(({ entropy }) => Number(entropy! > own[0]!.entropy!));
    }),
  );
  const { rose } = recordedRise(trees);
  assert.equal(rose.count, rounds.length);
  close(rose.value, mean(rounds));
});

test("the statistics of trees from a file are those of the trees, and their seed names the interval", async () => {
  const trees = await grow({ initialRollouts: 3, beamSize: 3 });
  const read = treesFromJsonl(treesToJsonl(trees));
  const { tokenizer: from } = trees[0]!;
  const whole = entropyStatistics(trees);
  assert.deepEqual(entropyStatistics(read, { tokenizer: from! }), whole);
  const again = (seed: number) => entropyRise(trees, { seed }).againstRest.low;
  assert.equal(again(0), whole.rise.againstRest.low);
  assert.notEqual(again(1), again(0));
});

test("a planted peak is found at calls, and one elsewhere is not", () => {
  const random = Random.from(7);
  const planted = (atCalls: boolean) =>
    Array.from({ length: 5 }, (_, i) => {
      const values = (length: number, hot: (t: number) => boolean) =>
        Array.from({ length }, (_, t) => (hot(t) ? 3 : 1) + 0.1 * random.uniform());
      const before = `${"w".repeat(80)}<c>1</c>`;
      return treeOf(
        [
          [-1, "model", 0, before, values(88, (t) => !atCalls && t >= 30 && t < 40)],
          [0, "tool", 0, "<result>1</result>"],
          [1, "model", 0, "v".repeat(100), values(100, (t) => atCalls && t < 10)],
        ],
        [{ leaf: 2 }],
        `task ${i}`,
      );
    });
  const at = entropyStatistics(planted(true));
  assert.ok(at.concentration.concentration.low! > 2 && at.rise.againstRest.low! > 0.5);
  const away = entropyStatistics(planted(false));
  assert.ok(away.concentration.concentration.high! < 0.2 && away.rise.againstRest.high! < 0);
});

test("wrong options are refused by name", () => {
  for (const [options, message] of [
    [{ signal: "heat" }, /signal must be one of entropy, top-k, surprisal, got "heat"/],
    [{ k: 0 }, /k must be an integer of at least 1, got 0/],
    [{ share: 2 }, /share must be a number above 0 and at most 1, got 2/],
    [{ draws: -1 }, /draws must be an integer of at least 0, got -1/],
  ] as const) {
    assert.throws(() => entropyStatistics([], options as object), message);
  }
  assert.throws(
    () => entropyRise(null as never),
    /trees must be a tree or a list of trees, got null/,
  );
});
