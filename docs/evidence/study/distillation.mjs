// Does a teacher's credit fall where outcomes are decided? docs/evidence/preregistration-distillation.md.
//
//   node docs/evidence/study/distillation.mjs OUT                makes what is not there: policies, measurements, runs
//   node docs/evidence/study/distillation.mjs OUT --table        prints the tables of docs/evidence/distillation.md
//
// part=measure|train: that part alone; family=NAME; seeds=N: so many of the seeds.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

// Before an engine is loaded: one thread, so that figures do not depend on the machine.
process.env.ARPO_LAB_THREADS ??= "1";
const [out, ...rest] = process.argv.slice(2);
if (!out || out.startsWith("-"))
  throw new SyntaxError("Cannot gather evidence: the folder of the runs must be given, got none");
const folder = resolve(out);
const given = Object.fromEntries(rest.filter((a) => a.includes("=")).map((a) => a.split("=")));
process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));

const { fineTune, Policy, Random, rollout, score, tasks, taskTools, trainOn, world } =
  await import("arpo-lab");
const { BranchValues, branchValues } = await import("arpo-lab/rollout");
const { rightSibling } = await import("arpo-lab/experimental/learn");
const { grpo, keep } = await import("./checkpoints.mjs");
const { siblingDemonstrations } = await import("./sibling-demonstrations.mjs");
const { sharedOf } = await import("./training-settings.mjs");

const data = "docs/evidence/data";
const families = ["multihop", "mixed"].filter((name) => name.includes(given.family ?? ""));
const seeds = Array.from({ length: Number(given.seeds ?? 24) }, (_, i) => 401 + i);
const limits = { seed: 71, responseLength: 200, callLimit: 3 };
const group = { n: 8, initialRollouts: 8, beamSize: 1 };
const runs = join(data, "distillation.csv");

/** The student of a family: it errs, and reads what stands before a question. */
async function studentOf(family) {
  const path = join(folder, `${family}-student`);
  if (existsSync(path)) return path;
  const policy = await Policy.load("data/models/tiny");
  await fineTune(policy, await siblingDemonstrations(family), {
    ...{ learningRate: 3e-4, schedule: "constant", batchSize: 16, epochs: 1, sharedPrefixes: true },
  });
  await keep(policy, path);
  policy.dispose();
  return path;
}

async function lateOf(family) {
  const path = join(folder, `${family}-late`);
  if (!existsSync(path)) await grpo(family, await studentOf(family), { 16: path });
  return path;
}

/** What a policy finds of the tokens that it or another one drew behind a prompt. */
const saidBy = async (policy, prompt, { tokens }) =>
  (await policy.logProbs([{ prompt, tokens }]))[0].logprobs;

/** Branch values of a family's prompts, and the teachers' gaps on the trajectories that were measured. */
async function measure(family) {
  const values = join(data, `${family}-student.jsonl.gz`);
  const gaps = join(data, `${family}-gaps.jsonl.gz`);
  if (existsSync(gaps)) return;
  const policy = await Policy.load(await studentOf(family));
  const late = await Policy.load(await lateOf(family));
  const { train } = tasks[family]({
    seed: 2026,
    train: 120,
    ...(family === "multihop" ? { test: 0 } : {}),
  });
  const tools = taskTools(world);
  const list = train.slice(0, 120);
  const path = join(folder, `${family}-values.jsonl`);
  await branchValues(policy, list, { ...limits, K: 16, sure: 0.99, group: 8, tools, into: path });
  const scored = await score(await rollout(policy, list, { ...limits, ...group, tools }));
  const sequences = scored.trajectories.map(
    ({ trajectory, group: of, score: { score: reward } }) => ({
      ...{ trajectory, group: of, reward },
    }),
  );
  const prompts = rightSibling().prompts(sequences, scored);
  const known = await BranchValues.load(path);
  const lines = [];
  for (const [i, tree] of scored.trees.entries()) {
    const trajectory = tree.trajectories[0];
    const at = sequences.findIndex((one) => one.trajectory === trajectory);
    const drawn = [...trajectory.logprobs.keys()].filter((t) =>
      Number.isFinite(trajectory.logprobs[t]),
    );
    const own = await saidBy(policy, trajectory.prompt, trajectory);
    const gap = (said) => drawn.map((t) => Number((said[t] - own[t]).toFixed(4)));
    const self = prompts[at] && gap(await saidBy(policy, prompts[at], trajectory));
    const record = known.records[i];
    if (
      record.texts.length !== drawn.length ||
      Math.abs(record.score - sequences[at].reward) > 1e-6
    )
      throw new Error(`${family} ${i}: the rollout is not the one that was measured`);
    lines.push(
      JSON.stringify({
        ...{ task: record.task, score: record.score, self: self ?? null },
        late: gap(await saidBy(late, trajectory.prompt, trajectory)),
      }),
    );
  }
  writeFileSync(values, gzipSync(readFileSync(path)));
  writeFileSync(gaps, gzipSync(lines.join("\n") + "\n"));
  await tools.dispose();
  policy.dispose();
  late.dispose();
  console.log(`${family}: ${lines.length} prompts measured`);
}

const arms = {
  reward: () => ({}),
  self: () => ({ teacher: rightSibling(), distillationRewards: false }),
  both: () => ({ teacher: rightSibling() }),
};
const columns = ["family", "arm", "seed", "steps", "reward", "early"];

const readRuns = () => {
  if (!existsSync(runs)) return [];
  const [head, ...lines] = readFileSync(runs, "utf8").trim().split("\n");
  const names = head.split(";");
  return lines.map((line) =>
    Object.fromEntries(
      line.split(";").map((cell, i) => [names[i], /^-?[\d.]/.test(cell) ? Number(cell) : cell]),
    ),
  );
};

async function train(family, arm, seed) {
  const policy = await Policy.load(await studentOf(family));
  const set = tasks[family]({
    seed: 2026,
    ...(family === "multihop" ? { train: 80 } : { train: 256 }),
    test: 40,
  });
  const own = sharedOf(family).filter(
    (one) => !/^data\.(train|val)_files|val_kwargs|test_at|logger|lab\.share/.test(one),
  );
  const run = await trainOn(policy, set, {
    ...{ preset: "grpo", n: 8, seed, live: false, quiet: true, learningRate: 3e-4, ...arms[arm]() },
    overrides: [
      ...own,
      "lab.budget.test_at_tokens=[19400]", // the last step alone
      ...["n=2", "do_sample=true", "temperature=1"].map(
        (value) => `actor_rollout_ref.rollout.val_kwargs.${value}`,
      ),
    ],
  });
  const { metrics } = run.validation.at(-1);
  const values = run.curve("critic/score/mean").map(({ value }) => value);
  const early = values.slice(2, 5).reduce((a, b) => a + b, 0) / 3;
  policy.dispose();
  return {
    family,
    arm,
    seed,
    steps: values.length,
    reward: metrics[`val-core/${family}/reward/mean@2`],
    early,
  };
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
/** The quantile 0.975 of Student's t. */
const t975 = { 3: 3.182, 7: 2.365, 11: 2.201, 15: 2.131, 19: 2.093, 23: 2.069 };
const shown = (value, digits = 3) => value.toFixed(digits);
const between = ({ value, low, high }, digits) =>
  `${shown(value, digits)} [${shown(low, digits)}, ${shown(high, digits)}]`;

/** A statistic of prompts with its bootstrap interval. */
function resampled(prompts, of, draws = 2000) {
  const random = Random.from(0);
  const values = Array.from({ length: draws }, (_, d) => {
    const own = random.split(d);
    return of(prompts.map(() => prompts[own.integer(prompts.length)]));
  }).sort((a, b) => a - b);
  const at = (q) => values[Math.round(q * (draws - 1))];
  return { value: of(prompts), low: at(0.025), high: at(0.975) };
}

async function partOne() {
  const names = families.filter((family) => existsSync(join(data, `${family}-gaps.jsonl.gz`)));
  const files = names.map((family) => join(data, `${family}-student.jsonl.gz`));
  const gaps = names.flatMap((family) =>
    gunzipSync(readFileSync(join(data, `${family}-gaps.jsonl.gz`)))
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  const known = new Map(gaps.filter(({ self }) => self).map((gap) => [gap.task, gap]));
  const all = await BranchValues.load(...files);
  const values = new BranchValues(
    all.settings,
    all.records.filter(({ task }) => known.has(task)),
  );
  const size = (who) => (seen) => known.get(seen.task)[who].map(Math.abs);
  const signals = { self: size("self"), late: size("late"), entropy: ({ entropies }) => entropies };
  const found = values.capture(signals, { shares: [0.1], draws: 2000 });
  const tokens = values.trajectories.map((seen) => ({ seen, ...known.get(seen.task) }));
  const afterResult = (who) => (prompts) => {
    let [near, whole, nearTokens, count] = [0, 0, 0, 0];
    for (const { seen, [who]: gap } of prompts)
      gap.forEach((g, i) => {
        const inside = Number(seen.sinceResult[i] < 5);
        near += inside * Math.abs(g);
        whole += Math.abs(g);
        nearTokens += inside;
        count++;
      });
    return near / whole - nearTokens / count;
  };
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const wrongLessRight = (who) => (prompts) => {
    const of = (right) =>
      prompts.filter(({ score }) => score > 0.5 === right).map((one) => sum(one[who]));
    return mean(of(false)) - mean(of(true));
  };
  const rows = [
    ...found.map((one) => [
      `decided variance at the tenth with the greatest ${one.signal === "entropy" ? "entropy" : `gap, ${one.signal}`}`,
      between(one),
    ]),
    ...["self", "late"].map((who) => [
      `share of the gap in 5 tokens after a result, less that of tokens, ${who}`,
      between(resampled(tokens, afterResult(who))),
    ]),
    ...["self", "late"].map((who) => [
      `summed gap in nats, wrong less right, ${who}`,
      between(resampled(tokens, wrongLessRight(who)), 2),
    ]),
  ];
  return [
    `${tokens.length} of ${gaps.length} first trajectories have a right sibling, ${tokens.filter(({ score }) => score > 0.5).length} of these are right.`,
    "",
    "| statistic | found |",
    "| --- | --- |",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ];
}

function partTwo() {
  const rows = readRuns();
  const lines = families.flatMap((family) => {
    const of = (arm, seed) =>
      rows.find((row) => row.family === family && row.arm === arm && row.seed === seed);
    const done = seeds.filter((seed) => Object.keys(arms).every((arm) => of(arm, seed)));
    const each = (arm, name) => done.map((seed) => of(arm, seed)[name]);
    const apart = (arm, name) => {
      const d = each(arm, name).map((value, i) => value - each("reward", name)[i]);
      const sd = Math.sqrt(sum2(d) / (d.length - 1));
      const t = t975[d.length - 1] ?? 2.1;
      return `${shown(mean(d))} ± ${shown((t * sd) / Math.sqrt(d.length))}`;
    };
    return Object.keys(arms).map((arm) => [
      ...[family, arm, done.length, shown(mean(each(arm, "reward")))],
      arm === "reward" ? "" : apart(arm, "reward"),
      shown(mean(each(arm, "early"))),
      arm === "reward" ? "" : apart(arm, "early"),
    ]);
  });
  const head = [
    "family",
    "arm",
    "seeds",
    "held-out reward",
    "less reward",
    "training score, steps 3 to 5",
    "less reward",
  ];
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
}
const sum2 = (values) => values.reduce((total, x) => total + (x - mean(values)) ** 2, 0);

if (rest.includes("--table")) {
  console.log([...(await partOne()), "", ...partTwo()].join("\n"));
} else {
  mkdirSync(folder, { recursive: true });
  if (given.part !== "train") for (const family of families) await measure(family);
  if (given.part !== "measure") {
    if (!existsSync(runs)) writeFileSync(runs, `${columns.join(";")}\n`);
    for (const seed of seeds)
      for (const family of families)
        for (const arm of Object.keys(arms)) {
          if (
            readRuns().some((row) => row.family === family && row.arm === arm && row.seed === seed)
          )
            continue;
          const row = await train(family, arm, seed);
          appendFileSync(runs, `${columns.map((name) => row[name]).join(";")}\n`);
          console.log(JSON.stringify(row));
        }
  }
}
process.exit(0);
