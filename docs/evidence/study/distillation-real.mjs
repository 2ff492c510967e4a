// Part 3 of docs/evidence/preregistration-distillation.md: reward, self-distillation and both on SmolLM2 and the own task.
//
//   node docs/evidence/study/distillation-real.mjs MODEL OUT     makes what is not there: an SFT and three runs a seed
//   node docs/evidence/study/distillation-real.mjs --table       prints the tables of docs/evidence/distillation.md
//
// MODEL is SmolLM2-135M-Instruct.Q4_1.gguf. seeds=999 tokens=4000: a pilot, which stays in OUT.
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const data = join(root, "docs/evidence/data/distillation-real.jsonl");
const arms = {
  reward: { overrides: [] },
  self: { isTaught: true, overrides: ["distillation.distillation_loss.use_task_rewards=false"] },
  both: { isTaught: true, overrides: [] },
};

const linesOf = (path) =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];

function command(...words) {
  const main = join(root, "dist/apps/cli/main.js");
  const { status } = spawnSync(process.execPath, [main, ...words], { stdio: "inherit" });
  if (status !== 0) throw new Error(`Cannot gather evidence: arpo-lab ${words.join(" ")} failed`);
}

/** A run of an arm: what it ends at on questions that it did not see. */
async function train(arm, seed, tokens) {
  const { loadConfig } = await import("arpo-lab/run");
  const { rightSibling } = await import("arpo-lab/experimental/learn");
  const { assemble } = await import("../../../dist/src/run/trainer/assemble.js");
  const { train: run } = await import("../../../dist/src/run/trainer/train.js");
  const { overrides, isTaught } = arms[arm];
  const { config } = await loadConfig({
    preset: ["grpo"],
    files: ["run.yaml"],
    overrides: [
      `actor_rollout_ref.model.path=runs/sft-${seed}`,
      "actor_rollout_ref.rollout.initial_rollouts=8",
      ...[`lab.seed=${seed}`, `lab.budget.tokens=${tokens}`, "lab.budget.warmup_tokens=3800"],
      `lab.budget.test_at_tokens=[${tokens}]`, // the last step alone
      ...overrides,
    ],
  });
  const parts = await assemble(config);
  const folder = `runs/${arm}-${seed}`;
  const told = isTaught ? { told: { update: { teacher: rightSibling() } } } : {};
  await run({ ...parts, ...told }, { folder });
  await parts.tools.dispose();
  parts.policy.model.dispose();
  const metrics = linesOf(join(folder, "metrics.jsonl"));
  const done = metrics.filter((line) => line["critic/score/mean"] !== undefined);
  const curve = (name) => done.map((line) => Number(line[name].toFixed(4)));
  return {
    ...{ arm, seed, steps: done.length, tokens: metrics.at(-1)["cost/tokens"] },
    ...{ scores: curve("critic/score/mean"), entropies: curve("actor/entropy_loss") },
    before: await rewardsAt(folder, 0, parts.reward),
    after: await rewardsAt(folder, done.length, parts.reward),
  };
}

/** The mean reward of each question's answers in a validation, by the question's id. */
async function rewardsAt(folder, step, reward) {
  const { loadTrees } = await import("arpo-lab/rollout");
  const { score } = await import("arpo-lab");
  const trees = await loadTrees(join(folder, `validation/${step}.jsonl`));
  const found = new Map();
  for (const { group, score: own } of (await score(trees, reward)).trajectories)
    found.set(group, [...(found.get(group) ?? []), own.score]);
  return Object.fromEntries([...found].map(([id, values]) => [id, mean(values)]));
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
/** A mean and half of its 95% interval. */
function interval(values, quantile) {
  const middle = mean(values);
  const variance = values.reduce((sum, x) => sum + (x - middle) ** 2, 0) / (values.length - 1);
  return `${middle.toFixed(3)} ± ${(quantile * Math.sqrt(variance / values.length)).toFixed(3)}`;
}

function table() {
  const rows = linesOf(data);
  const seeds = [...new Set(rows.map(({ seed }) => seed))];
  /** Of an arm, by seed: the rewards of a file's questions. */
  const rewards = (arm, when, file) =>
    seeds.map((seed) => {
      const found = rows.find((row) => row.arm === arm && row.seed === seed)[when];
      return Object.entries(found).flatMap(([id, x]) => (id.startsWith(file) ? [x] : []));
    });
  const bySeed = (own) => own.map(mean);
  const byQuestion = (own) => own[0].map((_, i) => mean(own.map((values) => values[i])));
  const less = (own, other) => own.map((x, i) => x - other[i]);
  const lines = ["held-out", "reworded", ""].flatMap((file) =>
    Object.keys(arms).map((arm) => {
      const after = rewards(arm, "after", file);
      const reward = rewards("reward", "after", file);
      const isReward = arm === "reward";
      return [
        file || "all",
        arm,
        mean(bySeed(rewards(arm, "before", file))).toFixed(3),
        ...bySeed(after).map((x) => x.toFixed(3)),
        interval(byQuestion(after), 1.96),
        isReward ? "" : interval(less(byQuestion(after), byQuestion(reward)), 1.96),
        isReward ? "" : interval(less(bySeed(after), bySeed(reward)), 4.303),
      ];
    }),
  );
  const head = [
    ...["questions", "arm", "after SFT", ...seeds.map((seed) => `seed ${seed}`), "mean"],
    ...["less reward, over questions", "over seeds"],
  ];
  for (const cells of [head, head.map(() => "---"), ...lines])
    console.log(`| ${cells.join(" | ")} |`);
}

const [model, out, ...given] = process.argv.slice(2);
if (model === "--table") table();
else {
  if (!model || !out) {
    throw new SyntaxError(
      "Cannot gather evidence: a model and a folder for the runs must be named",
    );
  }
  const asked = Object.fromEntries(given.map((word) => word.split("=")));
  const seeds = (asked.seeds ?? "1,2,3").split(",").map(Number);
  const path = resolve(model);
  if (!existsSync(out)) cpSync(join(root, "examples/own-task"), out, { recursive: true });
  process.chdir(out);
  mkdirSync("runs", { recursive: true });
  if (!existsSync("data/demonstrations.json")) command("run", "demonstrations.ts", "40");
  const into = asked.tokens ? resolve("pilot.jsonl") : data;
  for (const seed of seeds) {
    if (!existsSync(`runs/sft-${seed}`)) {
      const own = [`model_name_or_path=${path}`, `seed=${seed}`, `output_dir=runs/sft-${seed}`];
      command("sft", "sft.yaml", ...own);
    }
    for (const arm of Object.keys(arms)) {
      if (linesOf(into).some((row) => row.arm === arm && row.seed === seed)) continue;
      const row = await train(arm, seed, Number(asked.tokens ?? 22_000));
      appendFileSync(into, `${JSON.stringify(row)}\n`);
      console.log(JSON.stringify(row));
    }
  }
  process.exit(0);
}
