import assert from "node:assert/strict";
import { test } from "node:test";
import { grpoBatch } from "../testing/sample-batch.js";
import { largeTree } from "../testing/large-tree.js";
import { sampleTree } from "../testing/sample-tree.js";
import { Random } from "../../base/random/random.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { branchRules, expansionRules, type ExpandOptions } from "../../rollout/rules/registry.js";
import { rollout } from "../../rollout/rollout.js";
import { type ReplayChanges, followPlan } from "../../rollout/replay/follow-plan.js";
import { followExpansion } from "../../rollout/replay/follow-expansion.js";
import { valueInLink } from "../../base/text/link-text.js";
import { explore } from "./explore.js";
import { makePayload } from "./make-payload.js";
import { sharedTokens } from "./page/tree/paths.js";
import { tokenText, unpackPlans, unpackTree } from "./page/tree/unpack-tree.js";
import type { PackedNumbers } from "../page/pack.js";

/** A value as its page reads it. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

test("explore() decides in its page what tree.replay() decides", async () => {
  const random = Random.from(3);
  const seen = new Set<number>();
  for (let seed = 0; seed < 30; seed++) {
    const tree = await sampleTree({
      seed,
      rule: random.choose(branchRules),
      penalty: random.choose(["prompt", "path"]),
    });
    const plan = plain(makePayload(tree).plan);
    for (let i = 0; i < 6; i++) {
      const changes: ReplayChanges = {
        rule: random.choose(branchRules),
        probability: random.uniform(),
        weight: 2 * random.uniform(),
        threshold: random.uniform(),
      };
      const expected = tree.replay(changes);
      assert.deepEqual(plain(followPlan(plan, changes)), plain(expected));
      seen.add(expected.branches);
    }
  }
  assert.ok(seen.size > 3, "the settings must differ in what they decide");
});

test("explore() chooses in its page what tree.replay() chooses, as its sliders say", async () => {
  const random = Random.from(3);
  for (let seed = 0; seed < 12; seed++) {
    const own = random.choose([undefined, "treerl", "at2po", "appo"] as const);
    const tree = await sampleTree(
      own === undefined
        ? { seed }
        : { seed, rule: own, n: undefined, initialRollouts: undefined, beamSize: 1 },
    );
    const plans = unpackPlans(plain(makePayload(tree).expansions));
    for (const rule of expansionRules) {
      // It chooses by outcomes, which a tree does not keep.
      if (rule === "branpo") continue;
      const plan = plans[rule]!;
      const changes: ExpandOptions = {
        ...("points" in plan.settings ? { points: 1 + random.integer(16) } : {}),
        ...("rows" in plan.settings ? { rows: 1 + random.integer(4) } : {}),
        ...("segment" in plan.settings ? { segment: 1 + random.integer(40) } : {}),
      };
      // The page does not ask for so many leaves of a tree.
      const kept = rule === "tree-grpo" ? { keep: 1 } : {};
      const expected = tree.replay({ rule, expand: { ...changes, ...kept } });
      const shown = followExpansion(plan, {
        ...plan.settings,
        ...changes,
        ...kept,
      } as typeof plan.settings);
      assert.deepEqual(plain(shown), plain(expected), rule);
    }
  }
});

test("explore() leaves out rules that need what a tree does not carry", async () => {
  const tree = await sampleTree({ seed: 4 });
  for (const node of tree.nodes) delete node.top;
  assert.deepEqual(
    expansionRules.filter((rule) => !makePayload(tree).expansions.plans[rule]),
    ["appo", "appo-rollout", "branpo"],
  );
});

test("explore() carries every token, entropy and probability to its page", async () => {
  const tree = await sampleTree({ seed: 4 });
  const carried = unpackTree(plain(makePayload(tree)));
  const policy = new ScriptedPolicy(() => ({ text: "" }));
  for (const [i, node] of tree.nodes.entries()) {
    const { start, length } = carried.nodes[i]!;
    const texts = Array.from({ length }, (_, t) => tokenText(carried, carried.tokens[start + t]!));
    assert.equal(texts.join(""), policy.tokenizer.decode(node.tokens));
    node.entropies.forEach((entropy, t) => {
      assert.ok(Math.abs(carried.entropies[start + t]! - entropy) < 1e-4);
      const p = Math.exp(node.logprobs[t]!);
      assert.ok(Math.abs(Math.exp(-carried.surprises[start + t]!) - p) < 1e-3);
    });
    if (node.kind === "tool") assert.ok(Number.isNaN(carried.entropies[start]));
  }
  const [a, b] = [tree.selected[0]!, tree.selected.at(-1)!];
  let same = 0;
  while (same < a.tokens.length && a.tokens[same] === b.tokens[same]) same++;
  assert.equal(sharedTokens(carried, a.id, b.id), same);
});

test("explore() colours by the mean advantage and score of the trajectories that share a token", async () => {
  const { tree, scored, batch } = await grpoBatch();
  const payload = makePayload(tree, { scored, batch });
  const root = payload.nodes.findIndex((_, i) => {
    return batch.trajectories.filter((row) => row.trajectory.nodes.includes(i)).length > 1;
  });
  const through = scored.trajectories.filter((row) => row.trajectory.nodes.includes(root));
  const mean = through.reduce((sum, row) => sum + row.score.score, 0) / through.length;
  assert.ok(Math.abs(payload.nodes[root]!.reward! - mean) < 1e-12);
  const { advantages } = unpackTree(plain(payload));
  const rows = batch.trajectories.filter((row) => row.trajectory.nodes.includes(root));
  const expected =
    rows.reduce((sum, { trajectory, advantages: own }) => {
      const before = trajectory.nodes
        .slice(0, trajectory.nodes.indexOf(root))
        .reduce((n, id) => n + tree.nodes[id]!.tokens.length, 0);
      return sum + own[before]!;
    }, 0) / rows.length;
  assert.ok(Math.abs(advantages![payload.nodes[root]!.start]! - expected) < 1e-3);
});

test("explore() gives one piece of HTML in which no text of the tree is code", async () => {
  const evil = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>\u0001";
  const tree = await rollout(
    new ScriptedPolicy(() => ({ text: evil })),
    { prompt: evil },
    { n: 2 },
  );
  const bundle = explore(tree).bundle();
  const html = bundle["text/html"]!;
  assert.equal(html.match(/<script/g)!.length, 2);
  assert.equal(html.match(/<\/script>/g)!.length, 2);
  assert.doesNotMatch(html, /<!--|<img|https?:(?!\/\/www\.w3\.org)/);
  assert.match(bundle["image/svg+xml"]!, /^<svg .*<\/svg>$/s);
  assert.match(bundle["text/plain"]!, /^RolloutTree: 2 trajectories/);
  assert.notEqual(explore(tree).html().slice(0, 60), html.slice(0, 60), "ids must be unique");
});

test("a tree's picture is drawn as the explorer draws it, of a fork too", async () => {
  const { tree, scored, batch } = await grpoBatch();
  const fork = await tree.fork(0, { at: 1, n: 2 });
  for (const [shown, options] of [
    [tree, { scored, batch }],
    [fork, {}],
  ] as const) {
    const svg = explore(shown, options).picture();
    assert.equal(svg, explore(shown, options).bundle()["image/svg+xml"]);
    const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);
    for (const { id } of shown.trajectories) assert.ok(texts.includes(String(id)), `lane ${id}`);
    for (const word of ["Turn 1", "tool result"]) assert.ok(texts.includes(word), word);
    assert.doesNotMatch(svg, /NaN|undefined|var\(/);
    assert.doesNotMatch(svg, /\brow/i);
  }
});

test("the picture of a large tree stays small and says what it leaves out", async () => {
  const svg = explore(await largeTree()).picture();
  assert.ok(svg.length < 300_000, `${svg.length} bytes`);
  assert.match(svg, /\d+ more trajectories are left out here/);
});

test("a tree shows itself in the explorer once arpo-lab is loaded", async () => {
  await import("../../api/index.js");
  const tree = await sampleTree({ seed: 1 });
  const show = (tree as unknown as Record<symbol, () => Record<string, string>>)[
    Symbol.for("Jupyter.display")
  ]!;
  assert.match(show.call(tree)["text/html"]!, /class="arpo-view arpo-explorer/);
});

test("explore() keeps a tree of 1,000 nodes and 200,000 tokens below 5 MB", async () => {
  const tree = await largeTree();
  const saved = JSON.stringify(explore(tree).bundle());
  assert.ok(saved.length < 5e6, `${saved.length} bytes`);
  const { tokens, top } = JSON.parse(JSON.stringify(makePayload(tree))) as {
    tokens: string;
    top: { width: number; surprises: PackedNumbers };
  };
  assert.equal(Buffer.from(tokens, "base64").length, 400_000);
  assert.ok(top.width >= 1);
});

test("explore().link() puts the tree and a place into an address; one that is too large says what to do", async () => {
  const tree = await sampleTree({ seed: 1 });
  const link = await explore(tree).link({
    page: "https://lab.example/explore.html",
    node: 2,
    token: 0,
  });
  const [page, hash] = link.split("#");
  assert.equal(page, "https://lab.example/explore.html");
  const said = new URLSearchParams(hash);
  const { trajectory } = tree.nodes[2]!;
  assert.deepEqual(
    [said.get("t"), said.get("node"), said.get("token")],
    [`${trajectory}`, "2", "0"],
  );
  const told = await valueInLink(said.get("finding")!, { what: "finding", most: 1 << 22 });
  assert.equal((told as { tree: { policy: string } }).tree.policy, tree.policy);
  await assert.rejects(
    explore(await largeTree()).link(),
    /at most about 2,000 tokens, got .*saveTrees/,
  );
  await assert.rejects(explore(tree).link({ node: -1 }), /node must be an integer of at least 0/);
});
