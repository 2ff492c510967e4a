import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { rollout } from "../../rollout/rollout.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import { changes } from "./changes/registry.js";
import { meanInterval } from "../../eval/metrics/interval.js";
import { totalsOf, verdictOf } from "./evidence-values.js";
import { evidence } from "./find-evidence.js";

const search = {
  name: "search",
  tag: "search",
  description: "Answers what is known.",
  execute: (input: string) => `the year of ${input} is ${input.length === 1 ? 1729 : 1665}`,
};
const task = { id: "t", prompt: "When?", groundTruth: "1729" };
const answered = (text: string) => `<answer>\\boxed{${text}}</answer>\u0001`;

/** A policy that asks once, and then says what the result says, or what it always says. */
const policyOf = (reads: boolean) =>
  new ScriptedPolicy(({ text, sequence }) => {
    const result = /<result>([^]*)<\/result>/.exec(text)?.[1];
    if (result === undefined)
      return { text: `<search>${sequence % 2 === 0 ? "a" : "ab"}</search>` };
    const year = /\d+/.exec(result)?.[0] ?? "unknown";
    return { text: answered(reads ? year : "1729") };
  });

async function treeOf(reads: boolean, seed = 1): Promise<RolloutTree> {
  const tools = new ToolSet([search]);
  return rollout(policyOf(reads), task, { tools, n: 4, initialRollouts: 4, beamSize: 1, seed });
}

test("an answer that is read out of the result falls with it; one that is not stays", async () => {
  const reads = await evidence(await treeOf(true), { tries: 8 });
  assert.ok(reads.results.length > 0);
  for (const { tag, kept, changed, answer } of reads.results) {
    assert.equal(tag, "search");
    assert.equal(kept.survived.value, 1);
    assert.match(kept.text, new RegExp(`is ${answer}$`));
    for (const name of ["blanked", "contradicted", "exchanged"] as const) {
      assert.equal(changed[name]!.survived.value, 0, name);
      assert.equal(changed[name]!.verdict, "falls");
    }
    assert.notEqual(changed.exchanged!.text, kept.text);
  }
  const ignores = await evidence(await treeOf(false), { tries: 8 });
  for (const { changed } of ignores.results)
    for (const one of Object.values(changed)) {
      assert.equal(one!.verdict, "stays");
      assert.deepEqual(one!.survived, meanInterval(Array<number>(8).fill(1)));
    }
  const [kept, ...rest] = ignores.totals;
  assert.equal(kept!.change, "kept");
  for (const { falls, stays, results } of rest) assert.deepEqual([falls, stays], [0, results]);
  assert.match(String(reads), /contradicted\t\d\t0%/);
});

test("the same seed gives the same evidence, byte for byte; another seed other numbers", async () => {
  const of = async (seed: number) => JSON.stringify(await evidence(await treeOf(true), { seed }));
  const first = await of(5);
  assert.equal(await of(5), first);
  assert.notEqual(await of(6), first);
});

test("tokens and results are bounded, and what is left out is said", async () => {
  const tree = await treeOf(true);
  const one = await evidence(tree, { results: 1, tries: 2 });
  assert.equal(one.results.length, 1);
  assert.match(
    one.spent.left.join(),
    /3 of 4 tool results were not looked at: the limits are \{ results: 1, tokens: /,
  );
  const few = await evidence(tree, { tokens: 1, tries: 2 });
  assert.equal(few.results.length, 1);
  assert.ok(few.spent.tokens > 0);
  const whole = await evidence(tree, { tries: 2 });
  assert.deepEqual(whole.spent.left, []);
});

test("what cannot be judged or forked is refused, and a result too long for the tree is left out", async () => {
  const tools = new ToolSet([search]);
  const how = { tools, n: 2, initialRollouts: 2, beamSize: 1, seed: 1 };
  const bare = await rollout(policyOf(true), { prompt: "When?" }, how);
  await assert.rejects(evidence(bare), /Cannot look for evidence: .*groundTruth/);
  const judged = await evidence(bare, { reward: () => 0.5, tries: 2 });
  assert.equal(judged.results[0]!.kept.reward.value, 0.5);
  const read = new RolloutTree({ ...(await treeOf(true)) });
  await assert.rejects(evidence(read), /a tree that was read from a file needs a policy, got none/);
  assert.ok((await evidence(read, { policy: policyOf(true), tools, tries: 2 })).results.length > 0);
  const none = await rollout(new ScriptedPolicy(() => ({ text: answered("1") })), task, { n: 2 });
  await assert.rejects(evidence(none), /must have a tool result that stands alone, got none/);
  await assert.rejects(
    evidence(bare, { changes: ["blank" as never] }),
    /Cannot look for evidence: changes must be a list of blanked, contradicted, exchanged, got "blank" in it/,
  );
  const page = { ...search, execute: () => "year 1 ".repeat(200) };
  const long = await rollout(policyOf(true), task, { ...how, tools: new ToolSet([page]) });
  const other = await evidence(await treeOf(true), {
    ...{ others: [long], tries: 2, results: 1, changes: ["exchanged"], seed: 3 },
  });
  assert.ok(other.results.length === 1);
});

test("numbers of a contradiction differ from the result's, alike where they were alike", () => {
  const [, contradicted] = changes;
  const random = () => Random.from(4).split("x");
  const given = { tag: "t", input: "", others: [], text: "1729 and 64, then 1729 and 0" };
  const made = contradicted.change({ ...given, random: random() })!;
  const [a, b, c, d] = made.match(/\d+/g)!;
  assert.equal(a, c);
  assert.ok(a !== "1729" && a!.length === 4 && b !== "64" && b!.length === 2 && d !== "0");
  assert.equal(contradicted.change({ ...given, random: random() }), made);
  assert.equal(
    contradicted.change({ ...given, text: "Paris", random: random() }),
    "It is not true that: Paris",
  );
});

test("an interval decides: below the kept one it falls, above a half it stays", () => {
  const share = (right: number, all: number) =>
    meanInterval(Array.from({ length: all }, (_, i) => Number(i < right)));
  assert.equal(verdictOf(share(8, 8), share(0, 8)), "falls");
  assert.equal(verdictOf(share(8, 8), share(8, 8)), "stays");
  assert.equal(verdictOf(share(8, 8), share(5, 8)), "undecided");
  assert.equal(verdictOf(share(2, 8), share(0, 8)), "undecided");
  const outcome = (right: number) => ({
    ...{ text: "", answers: [], scores: [], survived: share(right, 8), reward: share(right, 8) },
  });
  const results = [8, 8, 6, 7].map((right, node) => ({
    ...{ node, trajectory: 0, turn: 0, tag: "t", input: "", answer: "1", kept: outcome(right) },
    changed: { blanked: { ...outcome(1), verdict: "falls" as const } },
  }));
  const [kept, blanked] = totalsOf(results, ["blanked"]);
  assert.equal(kept!.survived.value, 29 / 32);
  assert.ok(kept!.survived.low < 29 / 32 && kept!.survived.high > 29 / 32);
  assert.deepEqual(kept!.survived, meanInterval([1, 1, 6 / 8, 7 / 8]));
  assert.equal(blanked!.falls, 4);
});
