import assert from "node:assert/strict";
import { test } from "node:test";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import { expansionRules, type ExpansionRule } from "./rules/registry.js";
import { rollout } from "./rollout.js";
import { treesFromJsonl, treesToJsonl } from "./files/tree-jsonl.js";
import { treesFromParquet, treesToParquet } from "./files/tree-parquet.js";
import type { RolloutOptions } from "./options.js";
import type { RolloutTree } from "./rollout-tree.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const tools = new ToolSet([calculator()], { callLimit: 5 });
const task = { prompt: "q", raw: true };

/** Small settings of each rule, and how many trajectories that makes. */
const small: Record<ExpansionRule, RolloutOptions> = {
  "tree-grpo": { expand: { trees: 3, points: 3, rounds: 2, keep: 4 } },
  at2po: { n: 12, initialRollouts: 4, expand: { points: 4 } },
  treerl: { expand: { trees: 2, points: 2, rows: 3, rounds: 2 } },
  appo: { n: 9, initialRollouts: 4 },
  "appo-rollout": { n: 9, initialRollouts: 4 },
  fr3e: {
    initialRollouts: 3,
    judge: (trajectories) => trajectories.map(({ text }) => text.includes("a")),
    expand: { rows: 2, points: 2 },
  },
  treepo: { n: 8, expand: { segment: 6, depth: 5 } },
  "spo-tree": { expand: { segment: 6, factors: [3, 2, 2] } },
  branpo: {
    ...{ n: 8, initialRollouts: 4 },
    judge: (trajectories) => trajectories.map(({ text }) => text.includes("a")),
  },
  redraw: { n: 9, initialRollouts: 4 },
};

const options = (rule: ExpansionRule, more: RolloutOptions = {}): RolloutOptions => ({
  tools,
  responseLength: 120,
  ...small[rule],
  rule,
  ...more,
});
const grow = (rule: ExpansionRule, more: RolloutOptions = {}) =>
  rollout(randomTextPolicy(), task, options(rule, more));
const bytes = (trees: Iterable<RolloutTree>) => treesToJsonl(trees, { timing: false });

for (const rule of expansionRules) {
  test(`${rule}: trajectories are as many as the settings say, with tools and without calls`, async () => {
    const calm = () =>
      new ScriptedPolicy(({ options: { random } }) => ({
        text: `${"abcdefgh".slice(0, 1 + random.integer(8)).repeat(1 + random.integer(5))}\u0001`,
        confidence: 0.3 + 0.7 * random.uniform(),
      }));
    for (const policy of [randomTextPolicy, calm]) {
      for (let seed = 0; seed < 12; seed++) {
        const made = policy();
        const tree = await rollout(made, task, options(rule, { seed }));
        assert.equal(made.openSequences, 0);
        const { n } = tree.config;
        const exact = !["fr3e", "spo-tree", "branpo"].includes(rule);
        if (exact) assert.equal(tree.selected.length, n, `seed ${seed}`);
        else assert.ok(tree.selected.length <= n && tree.selected.length > 0);
        if (rule === "treerl" || rule === "treepo" || rule.startsWith("appo")) {
          assert.equal(tree.trajectories.length, n);
        }
        if (rule === "tree-grpo") assert.equal(tree.trajectories.length, 3 * (1 + 2 * 3));
        if (rule === "at2po") assert.equal(tree.trajectories.length, 4 + 2 * 4);
        checkTree(tree);
      }
    }
  });

  test(`${rule}: the same seed gives the same bytes, whoever answers first`, async () => {
    const slow = randomTextPolicy(async ({ sequence: trajectory }) => {
      for (let i = 0; i < (7 * trajectory) % 5; i++)
        await new Promise((done) => setImmediate(done));
    });
    const once = await rollout(slow, [task, task], options(rule, { seed: 3 }));
    const again = await rollout(
      randomTextPolicy(),
      [task, task],
      options(rule, { seed: 3, promptsAtOnce: 1 }),
    );
    assert.equal(bytes(once), bytes(again));
    assert.notEqual(
      bytes(once),
      bytes(await rollout(randomTextPolicy(), [task, task], options(rule, { seed: 4 }))),
    );
  });

  test(`${rule}: a tree comes back from files as it was`, async () => {
    const tree = await grow(rule, { seed: 5 });
    for (const [read] of [
      treesFromJsonl(treesToJsonl([tree])),
      await treesFromParquet(await treesToParquet([tree])),
    ]) {
      assert.deepEqual(read!.trajectories, tree.trajectories);
      assert.deepEqual(read!.config, tree.config);
      assert.deepEqual(
        read!.selected.map(({ id, text }) => [id, text]),
        tree.selected.map(({ id, text }) => [id, text]),
      );
    }
  });

  test(`${rule}: replay under the tree's own settings says what happened`, async () => {
    for (let seed = 0; seed < 12; seed++) {
      const tree = await grow(rule, { seed });
      if (rule === "branpo") {
        assert.throws(
          () => tree.replay({}),
          /branches of another outcome, which a tree does not keep/,
        );
        continue;
      }
      const { points, missing, unseen } = tree.replay({});
      const made = tree.trajectories.flatMap(({ id, parent, chosen }) =>
        chosen ? [{ ...chosen, trajectory: parent, child: id }] : [],
      );
      // TreePO's way back into finished paths is chance and not followed.
      if (rule === "treepo" && missing.length > 0) continue;
      assert.deepEqual([unseen, missing], [0, []], `seed ${seed}`);
      const inOrder = <T extends { round: number; order: number }>(list: T[]) =>
        list.sort((a, b) => a.round - b.round || a.order - b.order);
      assert.deepEqual(inOrder([...points]), inOrder(made));
    }
  });

  test(`${rule}: a fork grows by the rule again, and repeats itself`, async () => {
    const tree = await grow(rule, { seed: 2 });
    const node = tree.nodes.find(({ kind, tokens }) => kind === "model" && tokens.length > 2)!;
    const fork = await tree.fork(node.id, { at: 1 });
    assert.equal(fork.config.rule, rule);
    assert.equal(bytes([fork]), bytes([await tree.fork(node.id, { at: 1 })]));
    checkTree(fork);
    const few = await tree.fork(node.id, { at: 1, n: 2 });
    assert.equal(few.selected.length, 2);
    const other = await tree.fork(node.id, { at: 1, rule: "treerl", expand: { trees: 1 } });
    assert.equal(other.selected.length, 5);
  });
}

/**
 * What holds for every tree: trajectories keep what they share, texts are whole, branches lie where
 * they say.
 */
function checkTree(tree: RolloutTree): void {
  const tokens = (trajectory: number) =>
    tree.path(tree.trajectories[trajectory]!.leaf).flatMap((n) => [...n.tokens]);
  for (const { id: trajectory, parent, from, chosen, kind } of tree.trajectories) {
    const path = tree.path(tree.trajectories[trajectory]!.leaf);
    const shared = from < 0 ? 0 : tree.path(from).reduce((sum, n) => sum + n.tokens.length, 0);
    if (kind === "branch") {
      assert.ok(chosen, `trajectory ${trajectory} says why it was made`);
      assert.equal(shared, chosen.at);
      assert.deepEqual(tokens(trajectory).slice(0, shared), tokens(parent).slice(0, shared));
    }
    const text = path.map((node) => node.text).join("");
    const ids = path.flatMap((node) => [...node.tokens]);
    assert.equal(text, String.fromCodePoint(...ids.filter((id) => id > 1)));
    for (const node of path) {
      if (node.kind === "model") assert.equal(node.logprobs.length, node.tokens.length);
      if (node.top) assert.equal(node.top.ids.length, node.top.width * node.tokens.length);
    }
    const calls = path.filter((node) => node.kind === "tool").length;
    assert.ok(
      tree.trajectories[trajectory]!.calls >= calls &&
        tree.trajectories[trajectory]!.calls <= calls + 1,
    );
  }
  const used = new Set(
    tree.trajectories.flatMap(({ leaf }) => tree.path(leaf).map(({ id }) => id)),
  );
  assert.equal(used.size, tree.nodes.length);
}

/** A policy whose tokens have the log-probabilities and entropies that a list says, call by call. */
function spoken(
  calls: readonly (readonly [text: string, logprobs: number[], entropies?: number[]])[],
) {
  let call = 0;
  return new ScriptedPolicy(({ options: { maxTokens, stop = [] } }) => {
    const [text, logprobs, entropies = logprobs.map((l: number) => -l)] = calls[call++] ?? [
      "z\u0001",
      [-1, -1],
    ];
    const { length } = text.slice(0, maxTokens);
    const found = stop.find((s) => text.endsWith(s));
    return {
      tokens: Int32Array.from([...text].slice(0, length), (c) => c.codePointAt(0)!),
      logprobs: Float32Array.from(logprobs.slice(0, length)),
      entropies: Float32Array.from(entropies.slice(0, length)),
      top: {
        width: 1,
        ids: Int32Array.from([...text].slice(0, length), (c) => c.codePointAt(0)!),
        logprobs: Float32Array.from(logprobs.slice(0, length)),
      },
      finish: found ? "stop" : text.endsWith("\u0001") && length === text.length ? "end" : "length",
      ...(found ? { stop: found } : {}),
    };
  });
}

test("treerl draws the most surprising tokens anew, in both orders of the paper's pool", async () => {
  const policy = spoken([["abcd\u0001", [-1, -3, -0.5, -2, -0.1]]]);
  const tree = await rollout(policy, task, {
    rule: "treerl",
    expand: { trees: 1, points: 2, rows: 2 },
  });
  const told = tree.trajectories.flatMap(({ chosen }) =>
    chosen ? [[chosen.at, chosen.token, chosen.score]] : [],
  );
  assert.deepEqual(told, [
    [1, 1, 3],
    [3, 3, 2],
    [1, 1, 3],
    [3, 3, 2],
  ]);
  const byEntropy = tree.replay({ expand: { signal: "entropy", points: 1 } });
  assert.equal(byEntropy.points[0]!.at, 1);
});

test("appo goes on behind the token, and behind the result of a call that it ends", async () => {
  const calls = [
    ["a<calc>1+1</calc>", [...new Array<number>(16).fill(-0.01), -1]],
    ["bc\u0001", [-0.01, -0.02, -0.01]],
  ] as const;
  const policy = spoken(calls.map(([text, logprobs]) => [text, [...logprobs]]));
  const tree = await rollout(policy, task, { rule: "appo", n: 2, initialRollouts: 1, tools });
  const [, branch] = tree.trajectories;
  const path = tree.path(tree.trajectories[0]!.leaf);
  assert.deepEqual(
    path.map(({ kind }) => kind),
    ["model", "tool", "model"],
  );
  assert.equal(branch!.chosen!.token, 16);
  assert.equal(branch!.from, path[1]!.id, "the branch shares the tool's answer");
  assert.equal(tree.metrics["tools/total_calls"], 1);
});

test("appo ranks by what a policy of now makes of the rest of a trajectory", async () => {
  const policy = () => spoken([["abcd\u0001", [-1, -1.1, -0.9, -1.05, -0.1]]]);
  const current = Object.assign(policy(), {
    // Much more likely from the third token on, so the future of the tokens before it is worth more.
    logProbs: (trajectories: readonly { tokens: ArrayLike<number> }[]) =>
      Promise.resolve(
        trajectories.map(({ tokens }) => ({
          logprobs: Float32Array.from(tokens, (_, t) => [-1, -1.1, -0.8, -1.15, -0.1][t] ?? 0),
          entropies: new Float32Array(tokens.length),
        })),
      ),
  });
  const settings = { rule: "appo", n: 2, initialRollouts: 1 } as const;
  const alone = await rollout(policy(), task, settings);
  const guided = await rollout(policy(), task, { ...settings, current });
  assert.notEqual(alone.trajectories[1]!.chosen!.score, guided.trajectories[1]!.chosen!.score);
  const told = guided.replay({
    current: [(await current.logProbs([{ tokens: [1, 2, 3, 4, 5] }]))[0]!.logprobs],
  });
  assert.equal(told.points[0]!.score, guided.trajectories[1]!.chosen!.score);
  await assert.rejects(
    rollout(policy(), task, { ...settings, current: policy() }),
    /rule appo reads trajectories again under `current`, .* got policy scripted that only writes/,
  );
});

test("compat.appoAlignment pairs tokens behind a tool's result with what belongs to later ones", async () => {
  const calls = [
    ["a<calc>1+1</calc>", new Array<number>(17).fill(-0.1)],
    ["bcd\u0001", [-0.5, -2, -0.1, -0.3]],
  ] as const;
  const policy = () => spoken(calls.map(([text, logprobs]) => [text, [...logprobs]]));
  const settings = { rule: "appo-rollout", n: 2, initialRollouts: 1, tools } as const;
  const aligned = await rollout(policy(), task, settings);
  const shifted = await rollout(policy(), task, { ...settings, compat: { appoAlignment: true } });
  const length = secondSegment(aligned);
  assert.ok(
    aligned.trajectories[1]!.chosen!.token! >= length,
    "the uncertain token stands behind the result",
  );
  assert.ok(
    (shifted.trajectories[1]!.chosen?.token ?? 0) < length,
    "its entry is read for a token before it",
  );
});

/** Where the second segment of a trajectory begins. */
const secondSegment = (tree: RolloutTree) =>
  tree
    .path(tree.trajectories[0]!.leaf)
    .slice(0, 2)
    .reduce((sum, { tokens }) => sum + tokens.length, 0);

test("treepo starts with 2 to 8 paths, and with its width where the key is misplaced", async () => {
  const first = new Set<number>();
  for (let seed = 0; seed < 20; seed++) {
    const tree = await grow("treepo", { n: 16, seed });
    first.add(tree.trajectories.filter(({ kind }) => kind === "initial").length);
    const misplaced = await grow("treepo", { n: 16, seed, compat: { treepoFirstStep: true } });
    assert.equal(misplaced.trajectories.filter(({ kind }) => kind === "initial").length, 2);
  }
  assert.ok(Math.min(...first) === 2 && Math.max(...first) === 8, [...first].join());
});

test("fr3e explores the first right and the first wrong rollout", async () => {
  const tree = await grow("fr3e", { seed: 1, expand: { points: 2, rows: 3, right: 1, wrong: 1 } });
  const right = (trajectory: number) =>
    tree
      .path(tree.trajectories[trajectory]!.leaf)
      .map((n) => n.text)
      .join("")
      .includes("a");
  const firsts = [0, 1, 2];
  const bases = [firsts.find(right), firsts.find((trajectory) => !right(trajectory))].filter(
    (r) => r !== undefined,
  );
  const left = new Set(tree.trajectories.flatMap(({ parent, chosen }) => (chosen ? [parent] : [])));
  assert.deepEqual([...left].sort(), bases.sort());
  await assert.rejects(
    rollout(randomTextPolicy(), task, { rule: "fr3e" }),
    /needs a judge, got none/,
  );
});

test("rollout() refuses settings that a rule does not have or cannot meet", async () => {
  const refuse = (given: RolloutOptions, message: RegExp) =>
    assert.rejects(rollout(randomTextPolicy(), task, given), message);
  await refuse(
    { rule: "treerl", expand: { keep: 3 } },
    /every option must be known, got expand.keep; known are trees, rounds, /,
  );
  await refuse(
    { rule: "treerl", expand: { points: 0 } },
    /expand\.points must be an integer of at least 1, got 0/,
  );
  await refuse(
    { rule: "treerl", expand: { signal: "chance" as never } },
    /expand\.signal must be one of/,
  );
  await refuse(
    { rule: "treerl", n: 7 },
    /n follows from the settings of rule treerl and must be 30/,
  );
  await refuse({ rule: "tree-grpo", expand: { keep: 4 } }, /keep must be at most the 3 leaves/);
  await refuse({ expand: { points: 2 } }, /expand is for the rules tree-grpo, .* got arpo-code/);
  await refuse({ expand: { rule: "redraw" } as never }, /write rule: "redraw" beside expand/);
  await refuse({ rule: "appo", scheduling: "lockstep" }, /rule appo needs scheduling "prompt"/);
  await refuse({ rule: "appo", keepTop: false }, /signal top-entropy is made of the alternatives/);
  await refuse({ rule: "appo", dynamicRollouts: true }, /dynamicRollouts is for AEPO's rules/);
  const validated = await rollout(randomTextPolicy(), task, {
    rule: "treerl",
    mode: "validate",
    tools,
  });
  assert.equal(validated.trajectories.length, 1);
});

test("a tree from a file is replayed by rules that read text only with a tokenizer", async () => {
  const tree = await grow("at2po", { seed: 3 });
  const [read] = treesFromJsonl(treesToJsonl([tree])) as [RolloutTree];
  assert.deepEqual(read.replay({ rule: "fr3e" }), tree.replay({ rule: "fr3e" }));
  assert.throws(
    () => read.replay({ rule: "treerl" }),
    /reads the text of tokens and needs a tokenizer/,
  );
  const { tokenizer } = tree;
  assert.deepEqual(read.replay({ rule: "treerl", tokenizer }), tree.replay({ rule: "treerl" }));
});

test("a closing tag that the end of a segment cuts in two is a call all the same", async () => {
  const whole = "so <calc>6*7</calc>";
  const policy = new ScriptedPolicy(({ text }) => ({
    text: text.endsWith("</result>") ? "42\u0001" : whole.slice(text.length - task.prompt.length),
  }));
  // "so <calc>6*7</c" and "alc>".
  for (const rule of ["treepo", "spo-tree"] as const) {
    const expand = rule === "treepo" ? { segment: 15, depth: 4 } : { segment: 15, factors: [2, 2] };
    const made = {
      tools,
      rule,
      expand,
      responseLength: 120,
      ...(rule === "treepo" ? { n: 4 } : {}),
    };
    const tree = await rollout(policy, task, made);
    for (const { text } of tree.selected) assert.match(text, /<result>\n42\n<\/result>42/, rule);
  }
});

test("signal random: all tokens are chosen alike, from the tree's own draws, and a replay finds them again", async () => {
  for (const rule of ["treerl", "appo", "appo-rollout", "fr3e", "redraw"] as const) {
    const { expand } = small[rule];
    const places = new Set<number>();
    for (let seed = 0; seed < 6; seed++) {
      const more = { seed, expand: { ...expand, signal: "random" } } as const;
      const tree = await grow(rule, more);
      assert.equal(bytes([tree]), bytes([await grow(rule, more)]));
      const { unseen, missing, points } = tree.replay({});
      assert.deepEqual([unseen, missing.length], [0, 0], rule);
      for (const { at, score } of points) {
        places.add(at);
        if (rule === "treerl") assert.ok(score >= 0 && score < 1);
      }
    }
    assert.ok(places.size > 6, `${rule}: ${places.size}`);
  }
});

test("a policy that writes nothing ends its trajectories, whatever grows the tree", async () => {
  const nothing = () => new ScriptedPolicy(({ turn }) => ({ text: turn === 0 ? "ab" : "" }));
  const ways: RolloutOptions[] = [
    ...expansionRules.map((rule) => options(rule)),
    { tools, n: 4, responseLength: 120 },
    { tools, n: 4, responseLength: 120, scheduling: "lockstep" },
  ];
  for (const way of ways) {
    const signal = AbortSignal.timeout(20_000);
    const tree = await rollout(nothing(), task, { ...way, signal });
    for (const { end, text } of tree.trajectories) {
      assert.equal(end, "answer", String(way.rule));
      assert.match(text, /^[ab]*$/);
    }
  }
});
