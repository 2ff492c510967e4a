import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer } from "../../../common/options/check-options.js";
import { weightShapes } from "../../model/transformer/weights.js";
import type { Policy } from "../../policy/policies.js";
import type { Sequence } from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Config } from "../../run/config/schema.js";
import { rolloutOptions } from "../../run/trainer/options.js";
import { Trainer, type TrainerParts } from "../../run/trainer/trainer.js";
import { duration, memoryParts } from "../config/cost.js";
import { gigabytes, usableMemory } from "../machine/host.js";

/** Tokens that each sequence writes while it is timed. */
const timed = 6;

/** Seconds that a policy takes to read a prompt, and for one step of so many sequences behind it. */
async function stepTimes(
  policy: Policy,
  prompt: ArrayLike<number>,
  counts: readonly number[],
): Promise<{ prompt: number; steps: number[] }> {
  const session = policy.session();
  const write = async (sequences: readonly Sequence[], maxTokens: number) => {
    const began = performance.now();
    await Promise.all(
      sequences.map((sequence, i) =>
        session.generate(sequence, { maxTokens, random: Random.from(i) }),
      ),
    );
    return (performance.now() - began) / 1000;
  };
  try {
    const root = session.open(prompt);
    const first = await write([root], 1);
    const steps: number[] = [];
    for (const count of counts) {
      const sequences = Array.from({ length: count }, () => session.fork(root));
      await write(sequences, 1);
      // A sequence that ends early makes its step smaller: what is left is timed again.
      steps.push((await write(sequences, timed)) / timed);
      for (const sequence of sequences) session.close(sequence);
    }
    const single = counts.length > 0 ? Math.min(...steps) : 0;
    return { prompt: Math.max(0, first - single), steps };
  } finally {
    session.dispose();
  }
}

export interface EstimateOptions {
  /** Prompts of the steps that are tried. Default 2. */
  prompts?: number;
  /** What a call costs, by its tag, in a currency of your own. */
  prices?: Readonly<Record<string, number>>;
}

/** What a step, or a run, will take. */
export interface Expected {
  trajectories: number;
  /** Tokens read as prompts, written by the model, and given by tools. */
  tokens: { prompts: number; written: number; results: number };
  /** Calls by tag. */
  calls: Record<string, number>;
  /** What the calls cost, at the prices given. */
  cost: number;
  /** Seconds by the names that `timing_s/` has in a run's metrics; `step` is all of them. */
  seconds: Record<string, number>;
}

interface Counts {
  prompts: number;
  trajectories: number;
  read: number;
  written: number;
  results: number;
  /** Tokens of the longest row, with its prompt. */
  longest: number;
  calls: Map<string, number>;
}

function count(trees: readonly RolloutTree[]): Counts {
  const counts: Counts = {
    ...{ prompts: trees.length, trajectories: 0, read: 0, written: 0, results: 0, longest: 0 },
    calls: new Map(),
  };
  for (const { trajectories: all, nodes, prompt, selected } of trees) {
    counts.trajectories += all.length;
    counts.read += prompt.tokens.length;
    for (const { tokens } of selected) {
      counts.longest = Math.max(counts.longest, prompt.tokens.length + tokens.length);
    }
    for (const { tool, tokens } of nodes) {
      counts[tool ? "results" : "written"] += tokens.length;
      if (tool) counts.calls.set(tool.tag, (counts.calls.get(tool.tag) ?? 0) + 1);
    }
  }
  return counts;
}

/** The configuration of a step on a few prompts that moves no weight. */
function small(config: Config, prompts: number): Config {
  const { actor } = config.actor_rollout_ref;
  const smaller = structuredClone(config);
  smaller.data.train_batch_size = prompts;
  smaller.trainer.total_training_steps = 2;
  smaller.actor_rollout_ref.actor.ppo_mini_batch_size = Math.min(
    prompts,
    actor.ppo_mini_batch_size,
  );
  smaller.actor_rollout_ref.actor.optim.lr = 0;
  smaller.critic.optim.lr = 0;
  // A group of equal rewards is a step's work too.
  smaller.algorithm.filter_groups.enable = false;
  return smaller;
}

/**
 * What a run will take, and what it was found from.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RunEstimate } from "arpo-lab/experimental/doctor";
 *
 * const tokens = { prompts: 10, written: 90, results: 0 };
 * const step = { trajectories: 4, tokens, calls: {}, cost: 0, seconds: { gen: 2, step: 2 } };
 * const run = { ...step, steps: 1, validations: 0 };
 * const told = new RunEstimate(step, run, { weights: 2 ** 30 }, { prompts: 1, steps: 2, seconds: 1 });
 * assert.match(String(told), /tokens written +90 +90\n/);
 * ```
 */
export class RunEstimate {
  constructor(
    readonly step: Expected,
    readonly run: Expected & { steps: number; validations: number },
    /** Bytes by what needs them, from shapes. */
    readonly memory: Record<string, number>,
    /** What was tried for it. */
    readonly tried: { prompts: number; steps: number; seconds: number },
  ) {}

  /** All bytes together. */
  get bytes(): number {
    return Object.values(this.memory).reduce((sum, bytes) => sum + bytes, 0);
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const time = duration(this.run.seconds["step"]!);
    return { group: "Estimates", text: `${this.run.steps} steps, ${time}` };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** The figures as a table for a terminal. */
  toString(): string {
    const number = (value: number) => Math.round(value).toLocaleString("en");
    const calls = ({ calls }: Expected) =>
      Object.entries(calls)
        .map(([tag, times]) => `${tag} ${number(times)}`)
        .join(", ") || "none";
    const { step, run } = this;
    const parts = Object.entries(step.seconds)
      .filter(([part, seconds]) => part !== "step" && seconds > 0)
      .map(([part, seconds]) => `${part} ${seconds.toPrecision(2)}`);
    const line = (name: string, one: string, all: string) =>
      `${name.padEnd(16)} ${one.padStart(18)} ${all.padStart(18)}`;
    return [
      line("", "a step", `${run.steps} steps`),
      line("time", duration(step.seconds["step"]!), duration(run.seconds["step"]!)),
      line("trajectories", number(step.trajectories), number(run.trajectories)),
      line("tokens written", number(step.tokens.written), number(run.tokens.written)),
      line("tokens of tools", number(step.tokens.results), number(run.tokens.results)),
      line("prompt tokens", number(step.tokens.prompts), number(run.tokens.prompts)),
      line("calls", calls(step), calls(run)),
      ...(run.cost > 0 ? [line("cost of calls", step.cost.toFixed(2), run.cost.toFixed(2))] : []),
      `seconds of a step: ${parts.join(", ")}`,
      `memory: ${gigabytes(this.bytes)} of ${gigabytes(usableMemory())}`,
      `found from ${this.tried.steps} steps of ${this.tried.prompts} prompts, ${duration(this.tried.seconds)}; ${run.validations} validations are counted in`,
    ].join("\n");
  }
}

const times = ({ calls, tokens, ...rest }: Expected, factor: number): Expected => ({
  trajectories: rest.trajectories * factor,
  tokens: {
    prompts: tokens.prompts * factor,
    written: tokens.written * factor,
    results: tokens.results * factor,
  },
  calls: Object.fromEntries(Object.entries(calls).map(([tag, many]) => [tag, many * factor])),
  cost: rest.cost * factor,
  seconds: Object.fromEntries(
    Object.entries(rest.seconds).map(([part, seconds]) => [part, seconds * factor]),
  ),
});

/**
 * What a run will take, before it runs: two steps on a few of its prompts are tried as they would run, with
 * a learning rate of 0, so that no weight moves. A step of all prompts decodes more sequences at a time; how
 * much longer that takes is timed too.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { estimate } from "arpo-lab/experimental/doctor";
 * import { assemble } from "arpo-lab/experimental/learn";
 * import { loadConfig } from "arpo-lab/run";
 *
 * const { config } = await loadConfig({
 *   preset: ["grpo", "tiny"],
 *   overrides: [
 *     ...["trainer.total_training_steps=10", "data.max_response_length=16"],
 *     ...["data.train_batch_size=2", "actor_rollout_ref.actor.ppo_mini_batch_size=2"],
 *     ...["actor_rollout_ref.rollout.n=2"],
 *   ],
 * });
 * const parts = await assemble(config);
 * const { step, run } = await estimate(parts, { prompts: 1, prices: { python: 0.001 } });
 * assert.equal(step.trajectories, config.data.train_batch_size * config.actor_rollout_ref.rollout.n);
 * assert.equal(run.steps, 10);
 * parts.policy.model.dispose();
 * await parts.tools.dispose();
 * ```
 */
export async function estimate(
  parts: TrainerParts,
  options: EstimateOptions = {},
): Promise<RunEstimate> {
  checkArguments(
    "estimate a run",
    { parts },
    { parts: { config: "object", policy: "policy", train: "list" } },
  );
  checkOptions("estimate a run", options, { prompts: integer(1), prices: "object?" });
  const { config, policy, sampler = policy, validation } = parts;
  if (!("model" in policy)) {
    throw new TypeError(
      `Cannot estimate a run: the policy's model must be on this machine, got ${policy.name} that a server trains`,
    );
  }
  const batch = config.data.train_batch_size;
  const prompts = Math.min(options.prompts ?? 2, batch, Math.floor(parts.train.length / 2));
  if (prompts < 1) {
    throw new RangeError(
      `Cannot estimate a run: there must be 2 training tasks, got ${parts.train.length}`,
    );
  }
  const began = performance.now();
  const full = new Trainer(parts);
  const trial = new Trainer({ ...parts, config: small(config, prompts) });
  // The first step warms the machine up; both say how long trajectories are.
  const first = await trial.next();
  const second = await trial.next();
  const timing = (name: string) => second.timing[`timing_s/${name}`] ?? 0;
  const counts = count([...first.trees, ...second.trees]);
  const latest = count(second.trees);
  for (const made of [full, trial]) {
    made.learner.dispose();
    made.critic?.dispose();
  }

  const { n, promptsAtOnce = 64 } = rolloutOptions(config);
  const sequencesOf = (many: number) => Math.min(many, promptsAtOnce) * n!;
  const { prompt, steps } = await stepTimes(sampler, second.trees[0]!.prompt.tokens, [
    sequencesOf(prompts),
    sequencesOf(batch),
  ]);
  // Tokens of the steps tried against those of the one that was timed.
  const usual =
    (counts.written + counts.results) / 2 / Math.max(1, latest.written + latest.results);
  const waves = Math.ceil(batch / promptsAtOnce) / Math.ceil(prompts / promptsAtOnce);
  const writing = Math.max(0, timing("gen") - prompts * prompt) * usual;
  const share = batch / prompts;
  const seconds: Record<string, number> = {
    gen: writing * (steps[1]! / steps[0]!) * waves + batch * prompt,
  };
  for (const part of ["reward", "values", "old_log_prob", "adv", "update_critic", "update_actor"]) {
    seconds[part] = timing(part) * share * usual;
  }
  seconds["step"] = Object.values(seconds).reduce((sum, part) => sum + part, 0);
  const each = batch / counts.prompts;
  const price = (tag: string) => options.prices?.[tag] ?? 0;
  const calls = [...counts.calls].map(([tag, many]) => [tag, many * each] as const);
  const step: Expected = {
    trajectories: counts.trajectories * each,
    tokens: {
      prompts: counts.read * each,
      written: counts.written * each,
      results: counts.results * each,
    },
    calls: Object.fromEntries(calls),
    cost: calls.reduce((sum, [tag, many]) => sum + many * price(tag), 0),
    seconds,
  };

  const { val_before_train: before, test_freq: frequency } = config.trainer;
  const { totalSteps } = full;
  const between = frequency > 0 ? Math.floor((totalSteps - 1) / frequency) : 0;
  const validations = (before ? 1 : 0) + between + 1;
  // A validation writes one trajectory for each task and sample, at the cost of one in training.
  const asked = validation.length * config.actor_rollout_ref.rollout.val_kwargs.n;
  const validating = times(step, asked / step.trajectories);
  const spent = validating.seconds["gen"]!;
  const some = times({ ...validating, seconds: { validate: spent, step: spent } }, validations);
  const all = times(step, totalSteps);
  const sum = (a: Record<string, number>, b: Record<string, number>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [
        key,
        (a[key] ?? 0) + (b[key] ?? 0),
      ]),
    );
  const run = {
    ...{
      steps: totalSteps,
      validations,
      trajectories: all.trajectories + some.trajectories,
      cost: all.cost + some.cost,
    },
    tokens: sum(all.tokens, some.tokens) as Expected["tokens"],
    calls: sum(all.calls, some.calls),
    seconds: sum(all.seconds, some.seconds),
  };
  const { config: model } = policy.model;
  const size = (shape: readonly number[]) => shape.reduce((product, side) => product * side, 1);
  const parameters = [...weightShapes(model).values()].reduce((all, shape) => all + size(shape), 0);
  const memory = memoryParts({ config, kept: [], memory: 0, model, parameters }, counts.longest);
  if (policy.model.lora) {
    // Adapters alone have gradients and averages.
    const trained = [...policy.model.trainable.values()].reduce((all, { size }) => all + size, 0);
    delete memory["weights, gradients and Adam's averages"];
    memory["weights"] = parameters * 4;
    memory["adapters, their gradients and Adam's averages"] = trained * 16;
  }
  const tried = { prompts, steps: 2, seconds: (performance.now() - began) / 1000 };
  return new RunEstimate(step, run, memory, tried);
}
