// One seed of the recipe, in a folder: before, SFT, after, ARPO, after, GGUF. What is done already is not
// done again, and ARPO resumes where it stopped.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measure } from "./measure.mjs";

const { demonstrate } = await import("../../../../dist/src/tasks/tasks/demonstrate.js");
const { naturalTasks } = await import("../../../../dist/src/tasks/natural/index.js");
const { tasks } = await import("../../../../dist/src/tasks/tasks/index.js");
const { fineTune } = await import("../../../../dist/src/learn/sft/fine-tune.js");
const { saveGguf } = await import("../../../../dist/src/model/export/save-gguf.js");
const { saveModel } = await import("../../../../dist/src/model/files/save-model.js");
const { Policy } = await import("../../../../dist/src/policy/policies.js");
const { Random } = await import("../../../../dist/src/base/random/random.js");
const { assemble } = await import("../../../../dist/src/run/trainer/assemble.js");
const { loadConfig } = await import("../../../../dist/src/run/config/load.js");
const { train } = await import("../../../../dist/src/run/trainer/train.js");
const { taskTools } = await import("../../../../dist/src/tasks/task-tools.js");

const families = { ...tasks, ...naturalTasks };

/** A figure kept as JSON: read where it is there, else made and written. */
async function kept(path, make) {
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  const made = await make();
  writeFileSync(`${path}.part`, `${JSON.stringify(made)}\n`);
  renameSync(`${path}.part`, path);
  return made;
}

const timed = async (what) => {
  const start = performance.now();
  const found = await what();
  return { ...found, seconds: (performance.now() - start) / 1000 };
};

const linesOf = (path) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

export async function oneSeed({
  model,
  family,
  level,
  seed,
  sizes,
  overrides,
  folder,
  say,
  matmul,
}) {
  mkdirSync(folder, { recursive: true });
  const { demonstrations, sftBatch, sftRate, steps, prompts, rows, held, length } = sizes;
  const dials = { level, test: held, train: 512 };
  const set = families[family](dials);
  // The same questions in wordings that training shows, which tells learning a task from reading words anew.
  const known = families[family]({ ...dials, unseen: 0 });
  const at = (name) => join(folder, name);
  const settings = { responseLength: length, seed: 5 };
  const judged = async (path, name, of = set) =>
    kept(at(`${name}.json`), async () => {
      say(`${name}: ${held} held-out questions, twice`);
      const policy = await Policy.load(path);
      const tools = taskTools(of);
      try {
        return await timed(() => measure(policy, of.test, tools, settings));
      } finally {
        await tools.dispose();
        policy.dispose();
      }
    });

  // The same for every seed, and made once.
  const untrained = join(folder, "../..", `before-${family}-${level}.json`);
  const before = await kept(untrained, () => judged(model, "before"));
  const sft = at("sft");
  const tuned = await kept(at("sft-curve.json"), () =>
    timed(async () => {
      // Another country's facts, so that only the ways of searching and computing can be learned.
      const shown = families[family]({ ...dials, train: demonstrations, country: 100 + seed });
      const tools = taskTools(shown);
      const run = async (tag, input) => (await tools.call(tag, input)).text;
      const random = Random.from(seed).split("demonstrations");
      const examples = [];
      for (const [i, task] of shown.train.entries()) {
        examples.push(await demonstrate(task, shown.expert, run, { random: random.split(i) }));
      }
      await tools.dispose();
      const policy = await Policy.load(model);
      policy.model.matmulPrecision = matmul;
      const { steps: done } = await fineTune(policy, examples, {
        ...{ batchSize: sftBatch, epochs: 1, learningRate: sftRate, seed },
        ...{ schedule: "cosine", warmupRatio: 0.1, sharedPrefixes: true },
        onStep: ({ step, loss }) => say(`SFT ${step}: loss ${loss.toFixed(3)}`),
      });
      rmSync(sft, { recursive: true, force: true });
      mkdirSync(sft, { recursive: true });
      await saveModel(policy.model, sft);
      await policy.tokenizer.save(sft);
      policy.dispose();
      return { loss: done.map(({ loss }) => loss) };
    }),
  );
  const after = await judged(sft, "sft");
  const knownAfter = await judged(sft, "sft-known", known);

  const run = at("arpo");
  const trained = await kept(at("arpo-curve.json"), async () => {
    const { config } = await loadConfig({
      preset: ["arpo"],
      overrides: [
        `actor_rollout_ref.model.path=${sft}`,
        `data.train_files=tasks:${family}?level=${level}`,
        `data.val_files=tasks:${family}?level=${level}&test=${held}`,
        `data.train_batch_size=${prompts}`,
        "data.max_prompt_length=1024",
        `data.max_response_length=${length}`,
        `actor_rollout_ref.rollout.n=${rows}`,
        `actor_rollout_ref.rollout.initial_rollouts=${Math.ceil(rows / 2)}`,
        `actor_rollout_ref.actor.ppo_mini_batch_size=${prompts}`,
        "actor_rollout_ref.actor.optim.lr=3e-5",
        `lab.matmul_precision=${matmul}`,
        // Prompts and branches are computed once for all rows that share them, and nothing twice.
        "lab.share_prefixes=true",
        "lab.reuse_log_probs=true",
        "actor_rollout_ref.model.enable_gradient_checkpointing=false",
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1600",
        `trainer.total_training_steps=${steps}`,
        "trainer.test_freq=-1",
        "trainer.val_before_train=false",
        "trainer.save_freq=4",
        "trainer.max_actor_ckpt_to_keep=1",
        "lab.keep_best=false",
        `lab.seed=${seed}`,
        ...overrides,
      ],
    });
    const parts = await assemble(config);
    try {
      await train(parts, {
        folder: run,
        onStep: ({ step, metrics }) =>
          say(`ARPO ${step} of ${steps}: score ${metrics["critic/score/mean"].toFixed(3)}`),
        warn: say,
      });
    } finally {
      await parts.tools.dispose();
      parts.policy.model.dispose();
    }
    // From the run's own files, which hold also the steps before it was stopped and started again.
    const curve = linesOf(join(run, "metrics.jsonl")).map((line) => ({
      ...{ step: line.step, score: line["critic/score/mean"] },
      ...{ entropy: line["actor/entropy_loss"], calls: line["tools/calls_per_sample"] },
      tokens: line["response_length/mean"],
    }));
    const times = linesOf(join(run, "timing.jsonl")).map((line) => line["timing_s/step"]);
    return { curve, seconds: times.reduce((sum, seconds) => sum + seconds, 0) };
  });
  const actor = join(run, `global_step_${steps}`, "actor");
  const end = await judged(actor, "arpo");
  const knownEnd = await judged(actor, "arpo-known", known);
  await kept(at("gguf.json"), async () => {
    const policy = await Policy.load(actor);
    await saveGguf(policy.model, policy.tokenizer, at("agent.gguf"), { dtype: "q8_0" });
    policy.dispose();
    return { file: "agent.gguf" };
  });
  const inKnown = { sft: knownAfter, arpo: knownEnd };
  return {
    family,
    level,
    seed,
    sizes,
    before,
    sft: after,
    arpo: end,
    known: inKnown,
    tuned,
    trained,
  };
}
