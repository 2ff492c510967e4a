import assert from "node:assert/strict";
import { inspect } from "node:util";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Segment } from "../../policy/policy.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { rollout } from "../../rollout/rollout.js";
import { smallParts } from "../../run/trainer/testing/small-run.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { BranchValues } from "./branch-values.js";
import { branchValues, type BranchValueOptions } from "./measure.js";
import { variance } from "./measured-trajectory.js";
import type { ValueRecord, ValueSettings } from "./value-record.js";

// A policy whose values are known: a letter, a call that is certain, two letters, the end.
const call = "<calc>1+1</calc>";
const chanceOfA = (letters: string): number =>
  ({ "": 0.5, a: 0.8, b: 0.3, aa: 0.6, ab: 0.1, ba: 0.9, bb: 0.5 })[letters]!;
const isRight = (letters: string) => letters.endsWith("aa") || letters === "bbb";

function markov(): ScriptedPolicy {
  return new ScriptedPolicy(({ text, options }): Segment => {
    let said = text.slice(text.indexOf("?") + 1);
    const [tokens, logprobs, entropies]: number[][] = [[], [], []] as never;
    let finish: Segment["finish"] = "length";
    const write = (letter: string, p: number) => {
      tokens!.push(letter.codePointAt(0)!);
      logprobs!.push(Math.log(p));
      entropies!.push(p === 1 ? 0 : -p * Math.log(p) - (1 - p) * Math.log(1 - p));
      said += letter;
    };
    while (tokens!.length < options.maxTokens) {
      const letters = said.replace(/<calc>.*<\/result>/s, "").replace(/<.*/s, "");
      const open = said.indexOf("<");
      const called = said.includes("</result>");
      if (!called && letters.length > 0 && said.length < 1 + call.length) {
        write(call[open < 0 ? 0 : said.length - open]!, 1);
        if (said.endsWith("</calc>")) {
          finish = "stop";
          break;
        }
      } else if (letters.length < 3) {
        const p = chanceOfA(letters);
        const isA = options.random.uniform() < p;
        write(isA ? "a" : "b", isA ? p : 1 - p);
      } else {
        write("\u0001", 1);
        finish = "end";
        break;
      }
    }
    const top = { width: 0, ids: new Int32Array(0), logprobs: new Float32Array(0) };
    return {
      ...{ tokens: Int32Array.from(tokens!), top, finish },
      logprobs: Float32Array.from(logprobs!),
      entropies: Float32Array.from(entropies!),
      ...(finish === "stop" ? { stop: "</calc>" } : {}),
    };
  });
}

const tasksOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `t${i}`, prompt: "q?", raw: true }));
const reward = ({ response }: { response: string }) =>
  Number(isRight(response.replace(/<calc>.*<\/result>/s, "").trim()));
const settings: BranchValueOptions = {
  ...{ tools: [calculator()], reward, seed: 3, K: 8, group: 3, responseLength: 100 },
};

/** The value of a state, by going through all that may follow. */
function valueOf(letters: string): number {
  if (letters.length === 3) return Number(isRight(letters));
  const p = chanceOfA(letters);
  return p * valueOf(`${letters}a`) + (1 - p) * valueOf(`${letters}b`);
}

/** The mean over all trajectories of a function of the letters before a draw. */
function expected(length: number, f: (letters: string) => number, letters = ""): number {
  if (letters.length === length) return f(letters);
  const p = chanceOfA(letters);
  return p * expected(length, f, `${letters}a`) + (1 - p) * expected(length, f, `${letters}b`);
}
const varianceOf = (letters: string) => valueOf(letters) * (1 - valueOf(letters));
const decidedBy = (letters: string) => {
  const p = chanceOfA(letters);
  return p * (1 - p) * (valueOf(`${letters}a`) - valueOf(`${letters}b`)) ** 2;
};
/** Places of the three letters among the drawn tokens, and the length of it all. */
const letterPlaces = [0, 1 + call.length, 2 + call.length];
const length = call.length + 4;

const many = branchValues(markov(), tasksOf(400), settings);

test("branchValues() measures the values of a Markov policy that are known, without bias", async () => {
  const values = await many;
  assert.deepEqual(
    values.records[0]!.states.map(({ at }) => at),
    [0, 1, letterPlaces[2]!, letterPlaces[2]! + 1],
  );
  assert.equal(values.records[0]!.texts.length, length);
  // Each estimate's own interval, five deviations wide: one in a million would fail by chance, and seeds are fixed.
  for (const [drawn, place] of letterPlaces.entries()) {
    const only = { it: () => Array.from({ length }, (_, i) => Number(i === place)) };
    for (const [what, truth] of [
      ["variance", expected(drawn, varianceOf)],
      ["decided", expected(drawn, decidedBy)],
    ] as const) {
      const each = values.records.map((_, r) => {
        const one = new BranchValues(values.settings, [values.records[r]!]);
        return one.worth(only, { draws: 0 })[0]![what]!;
      });
      const mean = each.reduce((sum, x) => sum + x, 0) / each.length;
      const error = Math.sqrt(variance(each) / each.length);
      assert.ok(
        Math.abs(mean - truth) < 5 * error,
        `${what} of letter ${drawn}: ${mean}, ${truth}`,
      );
      assert.ok(error < 0.02);
    }
  }
});

test("BranchValues.check(): what all tokens decide is the variance at the prompt", async () => {
  const values = await many;
  const truth = varianceOf("");
  const telescoped = [0, 1, 2].reduce((sum, drawn) => sum + expected(drawn, decidedBy), 0);
  assert.ok(Math.abs(telescoped - truth) < 1e-12);
  const { low, high, decided, variance: at0 } = values.check();
  assert.ok(low! < 0 && high! > 0);
  assert.ok(Math.abs(decided - truth) < 0.03 && Math.abs(at0 - truth) < 0.02);
});

test("BranchValues.worth() counts tokens and calls that are left from the token, not from its state", async () => {
  const values = await many;
  const [fresh, uniform, after] = values.worth(["fresh", "uniform", "after-results"]);
  assert.deepEqual([fresh!.tokensLeft, fresh!.callsLeft], [length, 1]);
  // Behind the result nothing is called, although its state begins before the call.
  assert.deepEqual([after!.tokensLeft, after!.callsLeft, after!.places], [3, 0, 1]);
  assert.ok(Math.abs(uniform!.tokensLeft! - (length + 1) / 2) < 1e-9);
  assert.ok(Math.abs(uniform!.callsLeft! - (1 + call.length) / length) < 1e-9);
  // Worth per token of a branch at the result, exactly.
  const exact = expected(1, varianceOf) / 3;
  assert.ok(
    after!.low! < exact && exact < after!.high!,
    `${exact}: ${after!.low} to ${after!.high}`,
  );
  assert.equal(uniform!.ratio, 1);
  assert.equal(values.worth(["after-results"], { per: "call" })[0]!.value, undefined);
  const [perRow] = values.worth(["fresh"], { per: "trajectory", against: "after-results" });
  assert.ok(Math.abs(perRow!.value! - varianceOf("")) < 0.02);
});

test("BranchValues.worth(): an oracle is judged by forks that it did not see", async () => {
  // Every place of this policy is worth the same: choosing by luck must gain nothing.
  const coin = new ScriptedPolicy(({ text, options }): Segment => {
    const said = text.slice(text.indexOf("?") + 1);
    const left = 8 - said.length;
    const letters = Array.from({ length: left - 1 }, () => "x").join("");
    const last = options.random.uniform() < 0.5 ? "y" : "n";
    const tokens = Int32Array.from([...`${letters}${last}\u0001`].slice(0, left + 1), (c) =>
      c.codePointAt(0)!,
    );
    const half = Float32Array.from(tokens, () => Math.log(0.5));
    const top = { width: 0, ids: new Int32Array(0), logprobs: new Float32Array(0) };
    return { tokens, logprobs: half, entropies: half.map((l) => -l), top, finish: "end" };
  });
  const judge = ({ response }: { response: string }) => Number(response.endsWith("y"));
  const values = await branchValues(coin, tasksOf(100), { K: 8, group: 1, reward: judge });
  const places = { any: () => [1, 1, 1, 1, 1, 1, 1, 0, 0], oracle: "oracle" } as const;
  const [any, oracle] = values.worth(places, { per: "trajectory", against: "any" });
  assert.ok(Math.abs(any!.value! - 0.25) < 0.01);
  assert.ok(Math.abs(oracle!.ratio! - 1) < 0.06, `${oracle!.ratio}`);
});

test("BranchValues.decided() and capture() say where outcomes are decided", async () => {
  const values = await many;
  const sum = [0, 1, 2].reduce((total, drawn) => total + expected(drawn, decidedBy), 0);
  const shares = Object.fromEntries(values.decided().map((one) => [one.place, one]));
  const first = shares["first token after a result"]!;
  const truth = expected(1, decidedBy) / sum;
  assert.ok(first.low! < truth && truth < first.high!, `${truth}: ${first.low} to ${first.high}`);
  assert.equal(first.tokens, 1 / length);
  assert.ok(
    Math.abs(shares["first 5 after a result"]!.value! - (truth + expected(2, decidedBy) / sum)) <
      0.06,
  );
  // Only the letters are uncertain, and all is decided by them.
  const [most] = values.capture({ entropy: (t) => t.entropies }, { shares: [3 / length] });
  assert.ok(Math.abs(most!.value! - 1) < 1e-9);
  // A signal that tells nothing finds its share.
  const [flat] = values.capture({ flat: (t) => t.texts.map(() => 0) }, { shares: [0.1] });
  assert.ok(Math.abs(flat!.value! - 0.1) < 0.01);
  const profile = values.profile({ before: 2, after: 3, draws: 50 });
  assert.deepEqual(
    profile.map(({ distance, tokens }) => [distance, tokens]),
    [-2, -1, 0, 1, 2].map((distance) => [distance, 400]),
  );
});

test("place rules: one's own in a line; ARPO's code compares a first segment with itself, so it is a coin", async () => {
  const values = await many;
  const rules = {
    mine: ({ sinceResult }) => sinceResult.map((since) => Number(since === 0)),
    any: "after-results",
    arpo: "arpo-code",
    strong: (_, { decide }) => decide({ rule: "arpo-code", weight: 9 }),
    paper: "arpo-paper",
    never: (t) => t.texts.map(() => 0),
  } as const satisfies Parameters<BranchValues["worth"]>[0];
  const [mine, any, arpo, strong, paper, never] = values.worth(rules, { draws: 0 });
  assert.deepEqual({ ...mine, rule: "any" }, any);
  assert.deepEqual([arpo!.value, arpo!.places], [any!.value, 0.5]);
  assert.deepEqual([strong!.value, strong!.places], [any!.value, 0.5]);
  assert.ok(paper!.places >= 0);
  assert.deepEqual([never!.value, never!.ratio, never!.places], [undefined, undefined, 0]);
  // All that have names give something for every trajectory.
  for (const one of values.worth(undefined, { draws: 0 })) assert.ok(one.places > 0, one.rule);
});

test("branchValues() stopped anywhere and called again has the same bytes as one that never stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "values-"));
  try {
    const [whole, parts] = ["whole.jsonl", "parts.jsonl"].map((name) => join(folder, name));
    const seen: number[] = [];
    await branchValues(markov(), tasksOf(6), {
      ...settings,
      into: whole!,
      onProgress: ({ done }) => seen.push(done),
    });
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6]);
    const stop = new AbortController();
    const some = await branchValues(markov(), tasksOf(6), {
      ...{ ...settings, into: parts!, signal: stop.signal },
      onProgress: ({ done }) => done === 3 && stop.abort(),
    });
    assert.equal(some.prompts, 3);
    // Killed in the middle of a line.
    const text = await readFile(whole!, "utf8");
    const begun = await readFile(parts!, "utf8");
    assert.equal(text.slice(0, begun.length), begun);
    await writeFile(parts!, text.slice(0, begun.length + 40));
    const all = await branchValues(markov(), tasksOf(6), { ...settings, into: parts! });
    assert.equal(await readFile(parts!, "utf8"), text);
    assert.equal(all.prompts, 6);
    const loaded = await BranchValues.load(parts!);
    assert.deepEqual(loaded.worth(), all.worth());
    assert.deepEqual(loaded.settings, all.settings);
    await writeFile(`${parts!}.gz`, gzipSync(await readFile(parts!)));
    assert.deepEqual((await BranchValues.load(`${parts!}.gz`)).records, loaded.records);
    await writeFile(`${parts!}.gz`, "no gzip");
    await assert.rejects(
      BranchValues.load(`${parts!}.gz`),
      /Cannot load branch values: .*\.gz must be a file packed by gzip/,
    );
    // More tasks go on in the same file, other settings do not.
    assert.equal(
      (await branchValues(markov(), tasksOf(7), { ...settings, into: parts! })).prompts,
      7,
    );
    await assert.rejects(
      branchValues(markov(), tasksOf(7), { ...settings, K: 9, into: parts! }),
      /Cannot measure branch values: .*parts.jsonl must be of K 9, got one of K 8$/,
    );
    await assert.rejects(
      branchValues(markov(), [{ id: "other", prompt: "q?", raw: true }], {
        ...settings,
        into: parts!,
      }),
      /must be of these tasks, in order, got task "t0" at 0/,
    );
    // Tasks without an id are identified by their prompts.
    const named = join(folder, "prompts.jsonl");
    await branchValues(markov(), [{ prompt: "q?", raw: true }], { ...settings, into: named });
    await branchValues(markov(), [{ prompt: "q?", raw: true }], { ...settings, into: named });
    await assert.rejects(
      branchValues(markov(), [{ prompt: "other?", raw: true }], { ...settings, into: named }),
      /must be of these tasks, in order, got task "#0 [0-9a-f]{8}" at 0/,
    );
    await assert.rejects(
      branchValues(markov(), tasksOf(1), { ...settings, into: folder }),
      /Cannot measure branch values: into must be a file, got .* \(EISDIR\)$/,
    );
    await assert.rejects(
      branchValues(markov(), [], settings),
      /Cannot measure branch values: tasks must have at least one task, got none$/,
    );
    await writeFile(parts!, '{"format":"x"}\n');
    await assert.rejects(
      BranchValues.load(parts!),
      /must be a file that branchValues wrote, got format x/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("branchValues() into a file knows the policy by its weights: one that was trained since is refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-values-"));
  const into = join(folder, "values.jsonl");
  try {
    const { policy } = await smallParts();
    const set = [
      { prompt: "a", raw: true },
      { prompt: "b", raw: true },
    ];
    const how = { K: 2, group: 1, responseLength: 6, reward: () => 1 };
    const first = await branchValues(policy, set.slice(0, 1), { ...how, into });
    assert.match(first.settings.weights!, /^[0-9a-f]{16}$/);
    assert.equal((await branchValues(policy, set, { ...how, into })).prompts, 2);
    const [weight] = policy.model.weights.values();
    weight!.assign(weight!.add(1e-6));
    await assert.rejects(
      branchValues(policy, set, { ...how, into }),
      /values.jsonl must be of the policy as it is now, got one of other weights: it has been trained since/,
    );
    // Files from before there was a fingerprint resume as they did.
    const old = (await readFile(into, "utf8")).replace(/"weights":"\w+",/, "");
    await writeFile(into, old);
    assert.equal((await branchValues(policy, set, { ...how, into })).prompts, 2);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("branchValues() in a cell: an interrupt ends it, what is complete is given, progress is shown", async () => {
  const host = Symbol.for("arpo-lab.kernel.host");
  const global = globalThis as { [key: symbol]: unknown };
  const stop = new AbortController();
  global[host] = { cell: () => ({ id: "1", signal: stop.signal }), display: () => undefined };
  try {
    const values = await branchValues(markov(), tasksOf(5), {
      ...settings,
      onProgress: ({ done }) => done === 2 && stop.abort(new Error("Interrupted")),
    });
    assert.equal(values.prompts, 2);
  } finally {
    global[host] = undefined;
  }
});

test("branchValues() measures the trajectories that a rollout of the same seed has", async () => {
  const [first] = (await many).records;
  const tree = await rollout(markov(), { prompt: "q?", raw: true }, { ...rolloutSettings, n: 3 });
  assert.equal(
    first!.texts.join(""),
    tree.trajectories[0]!.text.replace(/ <result>.*<\/result>/s, ""),
  );
  assert.deepEqual(
    first!.segments.map(({ start }) => start),
    [0, 1 + call.length],
  );
  assert.equal(first!.group.length, 2);
  const shared = first!.group.map(({ shared }) => shared);
  assert.ok(
    shared.every((n) => n === 0 || n === 1 + call.length || n === 2 + call.length || n === length),
  );
});
const rolloutSettings = { tools: [calculator()], seed: 3, responseLength: 100 };

test("branchValues() and BranchValues refuse what makes no sense", async () => {
  const policy = markov();
  const refused = (options: object, words: RegExp) =>
    assert.rejects(branchValues(policy, tasksOf(1), { ...settings, ...options }), words);
  await refused(
    { K: 1 },
    /Cannot measure branch values: K must be an integer of at least 2, got 1/,
  );
  await refused({ sure: 0 }, /sure must be a number above 0 and at most 1, got 0/);
  await refused({ n: 3 }, /every option must be known, got n/);
  await refused({ sampling: { temperature: 0 } }, /temperature must be above 0, got 0: greedy/);
  await refused(
    { current: policy },
    /current must be able to say log-probabilities, got policy scripted/,
  );
  const values = new BranchValues({ K: 2 } as ValueSettings, []);
  assert.deepEqual(values.worth(["uniform"])[0]!.value, undefined);
  assert.throws(
    () => values.worth(["unifrom"] as never),
    /one of fresh, uniform, .*, got unifrom; did you mean uniform\?$/,
  );
  assert.throws(
    () => values.worth([], { per: "row" as never }),
    /per must be one of token, call, trajectory/,
  );
  assert.throws(() => values.worth(["uniform"], { against: "mine" }), /against must be one of/);
  const [record] = (await many).records as [ValueRecord];
  const one = new BranchValues({ K: 8 } as ValueSettings, [record]);
  assert.throws(() => one.worth({ short: () => [1] }), {
    message: `Cannot judge place rule short: it must give a weight for each of the trajectory's ${length} tokens, got 1`,
  });
  assert.throws(
    () => one.worth({ odd: (t) => t.texts.map(() => -1) }),
    /Cannot judge place rule odd: weights must be finite numbers of at least 0, got -1/,
  );
  assert.throws(
    () => one.decided({ here: 3 as never }),
    /each place must be a function of a trajectory/,
  );
});

test("console.log of branch values prints what they say, not what they hold", async () => {
  const values = await branchValues(markov(), tasksOf(3), settings);
  assert.equal(inspect(values), String(values));
  assert.match(inspect(values), /^BranchValues: scripted, 3 prompts[^]*\n {2}uniform: /);
});
