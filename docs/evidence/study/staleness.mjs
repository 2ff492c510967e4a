// What stale rollouts do to a tiny model, and what repairs it: docs/evidence/preregistration-staleness.md.
//
//   node docs/evidence/study/staleness.mjs                   trains what docs/evidence/data/staleness.csv lacks
//   node docs/evidence/study/staleness.mjs --table           prints the table of docs/staleness.md
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { Policy } from "arpo-lab/policy";
import { tasks, trainOn } from "arpo-lab/run";

export const file = "docs/evidence/data/staleness.csv";
export const seeds = [301, 302, 303, 304, 305];
const uncorrected = ["lab.correct_sampler=false"];
const bypass = ["algorithm.rollout_correction.bypass_mode=true"];

/** What the arms change of a run on-policy. */
export const arms = {
  "on-policy": {},
  "8 old, uncorrected": { async: 8, overrides: uncorrected },
  "8 old, weight per token, at most 2": { async: 8 },
  "8 old, bypass": { async: 8, overrides: bypass },
  "8 old, decoupled PPO": { async: 8, loss: "decoupled" },
};

export const shared = {
  ...{ preset: "grpo", steps: 12, prompts: 3, n: 8, learningRate: 5e-4 },
  ...{ live: false, quiet: true, testEvery: 12 },
};

/** Held-out answers are sampled as training's are, one to a question. */
const sampled = ["do_sample=true", "temperature=1", "n=1"].map(
  (value) => `actor_rollout_ref.rollout.val_kwargs.${value}`,
);

/** Defaults of the day of the runs. */
const asThen = ["lab.share_prefixes=false", "lab.reuse_log_probs=false"];

const columns = ["arm", "seed", "before", "reward", "entropy", "ratio_max", "effective", "seconds"];

/** One run: what it reached, and how far its rollouts were from what it trained. */
async function run(arm, seed) {
  const { overrides = [], ...rest } = arms[arm];
  const policy = await Policy.load("data/models/tiny");
  const began = Date.now();
  const set = tasks.multihop({ train: 80, test: 40, seed: 2026 });
  const trained = await trainOn(policy, set, {
    ...{ ...shared, ...rest, seed },
    overrides: [...sampled, ...asThen, ...overrides],
  });
  const [before, reward] = trained.validation.map(
    ({ metrics }) => metrics["val-core/multihop/reward/mean@1"],
  );
  const values = (name) => trained.curve(name).map(({ value }) => value);
  const entropy = values("actor/entropy_loss").at(-1);
  const most = Math.max(1, ...values("staleness/ratio/max"));
  const shares = values("staleness/effective_trajectories").slice(1);
  const effective = shares.length === 0 ? 1 : shares.reduce((a, b) => a + b) / shares.length;
  policy.dispose();
  const seconds = (Date.now() - began) / 1000;
  return { arm, seed, before, reward, entropy, ratio_max: most, effective, seconds };
}

function read() {
  if (!existsSync(file)) return [];
  const [head, ...lines] = readFileSync(file, "utf8").trim().split("\n");
  const names = head.split(";");
  return lines.map((line) =>
    Object.fromEntries(
      line.split(";").map((cell, i) => [names[i], names[i] === "arm" ? cell : Number(cell)]),
    ),
  );
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
/** The quantile 0.975 of Student's t with four degrees of freedom. */
const t4 = 2.776;
const half = (values) => {
  const m = mean(values);
  const variance = values.reduce((sum, v) => sum + (v - m) ** 2, 0) / (values.length - 1);
  return t4 * Math.sqrt(variance / values.length);
};

function table(rows) {
  const of = (arm, name) =>
    seeds.map((seed) => rows.find((row) => row.arm === arm && row.seed === seed)[name]);
  const [base, plain] = ["on-policy", "8 old, uncorrected"].map((arm) => of(arm, "reward"));
  const lines = Object.keys(arms).map((arm) => {
    const reward = of(arm, "reward");
    const cell = (values) => `${mean(values).toFixed(2)} ± ${half(values).toFixed(2)}`;
    const less = (from) => cell(reward.map((value, i) => value - from[i]));
    const most = of(arm, "ratio_max").sort((a, b) => a - b);
    const middle = most[2];
    const apart = [
      arm === "on-policy" ? "" : less(base),
      /on-policy|uncorrected/.test(arm) ? "" : less(plain),
    ];
    const figures = [cell(reward), ...apart, mean(of(arm, "entropy")).toFixed(2)];
    return [arm, ...figures, middle.toPrecision(3), mean(of(arm, "effective")).toFixed(2)];
  });
  const head = [
    "arm",
    "held-out reward",
    "less on-policy",
    "less uncorrected",
    "entropy",
    "greatest ratio",
    "effective",
  ];
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
}

if (process.argv.includes("--table")) {
  console.log(table(read()).join("\n"));
} else {
  if (!existsSync(file)) writeFileSync(file, `${columns.join(";")}\n`);
  for (const seed of seeds) {
    for (const arm of Object.keys(arms)) {
      if (read().some((row) => row.arm === arm && row.seed === seed)) continue;
      const row = await run(arm, seed);
      appendFileSync(file, `${columns.map((name) => row[name]).join(";")}\n`);
    }
  }
}
process.exit(0);
