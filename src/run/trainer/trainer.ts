// The whole of reinforcement learning here: roll out, score, spread, update. Each line of `step` is the
// function a person calls in a cell; what is left is bookkeeping, so that a run can be stopped and
// looked at anywhere, and resumed as if it had never stopped.
import { needsOf } from "../../learn/estimators/registry.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import type { LoaderState } from "../../tasks/batches.js";
import type { Task } from "../../tasks/task.js";
import { Critic } from "../../learn/update/critic.js";
import { Learner } from "../../learn/update/learner.js";
import {
  type TrainingBatch,
  type PreparedSequence,
  sequencesOf,
  trainedMask,
} from "../../learn/batch.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import { advantages, placeReward } from "../../learn/advantages.js";
import { type KlControl, klInReward } from "../../learn/losses/base/kl.js";
import type { Reference } from "../../learn/update/update-settings.js";
import { type Trainable, trainedOf } from "../../learn/update/trainee.js";
import { freshFigures } from "../../learn/staleness.js";
import { addCost, type Cost, noCost, spentOn } from "../../learn/measures/spent.js";
import { treeMetrics } from "../../learn/measures/tree-metrics.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policies.js";
import { Random } from "../../base/random/random.js";
import { diagnose } from "../../reward/findings/diagnose.js";
import type { Reward } from "../../reward/reward-function.js";
import type { Scored } from "../../reward/scored.js";
import { score } from "../../reward/score-trees.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TokenRanking } from "../../rollout/branch/family/signals.js";
import { rollout } from "../../rollout/rollout.js";
import { toolMetrics } from "../../rollout/tree/metrics.js";
import type { ToolSet } from "../../tools/tool-set.js";
import type { Config } from "../config/schema.js";
import type { RunProgress } from "../../base/show/progress-line.js";
import {
  advantageOptions,
  criticOptions,
  learningRateAt,
  laidOver,
  type Place,
  placeInBudget,
  reachesTest,
  rolloutOptions,
  type ScheduleAt,
  scoreOptions,
  stalenessPlan,
  stepsOf,
  type Told,
  updateOptions,
  validationOptions,
} from "./options.js";
import { batchMetrics, entropyMetrics, toolSeconds, validationMetrics } from "./metrics.js";
import { drawBatch } from "./draw-batch.js";
import { type DrawnBatch, RolloutQueue } from "./rollout-queue.js";
import { StepClock } from "./step-clock.js";

/** What a trainer is put together from. */
export interface TrainerParts<P = Policy & Trainable> {
  config: Config;
  /** Its model is here, or a server's (`trainee`). */
  policy: P;
  /** What rolls out, where that is not `policy`: an endpoint, a copy. The update corrects for it. */
  sampler?: Policy;
  tools: ToolSet;
  /** The world that trajectories act in, besides their tools. */
  environment?: EnvironmentSource;
  reward: Reward;
  train: readonly Task[];
  validation: readonly Task[];
  /** The frozen policy that KL is measured against, where the configuration asks for KL. */
  reference?: Reference;
  /** A model with a value head, where the estimator is gae. */
  critic?: Model;
  /** Ranks the tokens that trajectories branch at, in place of `lab.expand.signal`. */
  ranking?: TokenRanking;
  /** Options that the configuration has no key for, laid over its own. */
  told?: Told;
  signal?: AbortSignal;
  /** Told what a step is doing, so that a person can be shown it. */
  onProgress?: (progress: RunProgress) => void;
}

/** Parts whose model is in memory. */
export type LocalParts = TrainerParts<Policy & { readonly model: Model }> & { reference?: Model };

/** One step, with everything in it that a person may want to open. */
export interface TrainerStep {
  /** 1 for the first. */
  step: number;
  /** Infinity where a budget ends the run. */
  totalSteps: number;
  /** Whether it has reached a budget at which the run is to be validated. */
  reachesTest: boolean;
  trees: RolloutTree<Task>[];
  scored: Scored;
  batch: TrainingBatch;
  report: UpdateReport | undefined;
  /** Under the reference's names; the same for every run of the same seed. */
  metrics: Record<string, number>;
  /** Seconds per part, under the reference's names. */
  timing: Record<string, number>;
  /** What is wrong with the rewards, if anything. */
  findings: ReturnType<typeof diagnose>;
}

/** What a resumed trainer needs besides weights and optimisers. */
export interface TrainerState {
  step: number;
  loader: LoaderState;
  kl: KlControl;
  /** What training rollouts have cost. */
  cost: Cost;
  /** Batches drawn so far, where they are not as many as steps. */
  drawn?: number;
  /** Batches that were drawn and wait to be trained on, in their order; they are not copied. */
  waiting?: readonly DrawnBatch[];
}

/**
 * The loop of rollout, reward, advantage and update.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tasks } from "arpo-lab/run";
 * import { Model } from "arpo-lab/model";
 * import { Policy } from "arpo-lab/policy";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 * import { Trainer, loadConfig } from "arpo-lab/run";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const { config } = await loadConfig({
 *   preset: ["grpo", "tiny"],
 *   overrides: [
 *     "data.train_batch_size=1",
 *     "data.max_response_length=4",
 *     "actor_rollout_ref.actor.ppo_mini_batch_size=1",
 *     "trainer.total_training_steps=2",
 *   ],
 * });
 * const { train, test } = tasks.calc({ train: 2, test: 1 });
 * const policy = Policy.fromModel(Model.init(sizes, 1), new CodePointTokenizer());
 * const reward = ({ response }: { response: string }) => response.length;
 * const parts = { config, policy, tools: new ToolSet(), reward, train, validation: test };
 * const trainer = new Trainer(parts);
 * for await (const { step, metrics } of trainer) assert.equal(metrics["training/global_step"], step);
 * assert.equal(trainer.step, 2);
 * policy.dispose();
 * ```
 */
export class Trainer implements AsyncIterable<TrainerStep> {
  readonly parts: TrainerParts;
  readonly learner: Learner;
  readonly critic: Critic | undefined;
  /** Infinity where a budget ends the run. */
  readonly totalSteps: number;
  readonly #seed: Random;
  readonly #queue: RolloutQueue;
  #state: TrainerState;
  #cpu = 0;

  /**
   * @param parts the policy, tasks, reward and configuration of the run
   * @param state where an earlier trainer stopped
   */
  constructor(parts: TrainerParts, state?: TrainerState) {
    checkArguments(
      "train",
      { parts },
      {
        parts: {
          config: "object",
          policy: "policy",
          sampler: "policy?",
          train: "list",
          tools: "tools",
          reward: "reward",
        },
      },
    );
    const { config, policy, critic } = parts;
    const { algorithm, data, lab } = config;
    this.parts = parts;
    this.learner = new Learner(trainedOf(policy), {
      ...laidOver(updateOptions(config), parts.told?.update),
      reference: parts.reference,
    });
    if (needsOf(algorithm.adv_estimator) === "values") {
      if (!critic) throw new TypeError("Cannot train with gae: a critic must be given, got none");
      this.critic = new Critic(critic, criticOptions(config));
    }
    const perEpoch = Math.floor(parts.train.length / data.train_batch_size);
    if (perEpoch === 0) {
      throw new RangeError(
        `Cannot train: data.train_batch_size (in a cell: prompts) must be at most the number of training tasks, ${parts.train.length}, got ${data.train_batch_size}`,
      );
    }
    const { enable } = algorithm.filter_groups;
    if (lab.budget.tokens_per_step !== null && enable) {
      throw new RangeError(
        `Cannot train: lab.budget.tokens_per_step must be null with algorithm.filter_groups.enable, which fills a step by its own count, got ${lab.budget.tokens_per_step}`,
      );
    }
    this.totalSteps = stepsOf(config, perEpoch);
    this.#seed = Random.from(lab.seed);
    const { waiting, ...earlier } = state ?? {};
    const { train_batch_size: size } = data;
    this.#queue = new RolloutQueue(stalenessPlan(config, size), waiting);
    const { type, kl_coef, target_kl, horizon } = algorithm.kl_ctrl;
    this.#state = {
      step: 0,
      cost: noCost,
      loader: { epoch: 0, position: 0 },
      kl:
        type === "fixed"
          ? { type, coefficient: kl_coef }
          : { type, coefficient: kl_coef, target: target_kl, horizon },
      ...earlier,
    };
  }

  /** Frees what the optimisers keep; the policy and what the steps found stay. */
  dispose(): void {
    this.learner.dispose();
    this.critic?.dispose();
  }

  /** Steps done. */
  get step(): number {
    return this.#state.step;
  }

  /** What training rollouts have cost so far. */
  get cost(): Cost {
    return this.#state.cost;
  }

  /** The share of the run that is done, by its steps or its budget: 1 at its end. */
  get progress(): number {
    const { at, of } = this.#place;
    return at / of;
  }

  get #place(): Place {
    const { step, cost } = this.#state;
    return placeInBudget(this.parts.config, cost) ?? { at: step, of: this.totalSteps };
  }

  /** What a new trainer continues from. */
  state(): TrainerState {
    const { waiting } = this.#queue;
    return { ...structuredClone(this.#state), ...(waiting.length > 0 ? { waiting } : {}) };
  }

  /** A seed for one part of one step: neither depends on what was drawn before. */
  #seedFor(part: string, step: number): number {
    return this.#seed
      .split(part)
      .split(step)
      .integer(2 ** 31);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TrainerStep> {
    while (this.progress < 1) {
      this.parts.signal?.throwIfAborted();
      yield await this.next();
    }
  }

  /** Does one step. */
  async next(): Promise<TrainerStep> {
    const { config } = this.parts;
    const { actor } = config.actor_rollout_ref;
    const step = this.#state.step + 1;
    const clock = new StepClock();
    const before = this.#state.cost;
    const spent = placeInBudget(config, before);
    const { batch: taken, ...gathered } = await this.#take(step, clock);
    const { trees, scored, loader, generated } = taken;
    const { batch, kl, baselines, ...credit } = await this.#advantages(scored, step, clock);
    const cost = addCost(before, addCost(gathered.cost, baselines));
    const { warmup_tokens: warmup } = config.lab.budget;
    const warm = warmup === null ? undefined : Math.min(1, cost.tokens / warmup);
    const at: ScheduleAt = { step, totalSteps: this.totalSteps, spent, warm };
    const learns = step > config.trainer.critic_warmup;
    const criticMetrics =
      (await this.critic
        ?.update(batch, {
          learningRate: learningRateAt(config.critic, at),
          ...(config.critic.shuffle
            ? { shuffle: this.#seed.split("update-critic").split(step) }
            : {}),
        })
        .finally(() => clock.mark("update_critic"))) ?? {};
    this.#tell(step, learns ? "updating" : "learning values");
    const report = learns
      ? await clock.time("update_actor", () =>
          this.learner.update(batch, {
            learningRate: learningRateAt(actor, at),
            random: this.#seed.split("loss"),
            ...(actor.shuffle ? { shuffle: this.#seed.split("update").split(step) } : {}),
          }),
        )
      : undefined;
    const { drawn } = gathered;
    this.#state = { step, loader: gathered.loader, kl, cost, ...(drawn === step ? {} : { drawn }) };
    const tool = toolMetrics(trees);
    return {
      step,
      totalSteps: this.totalSteps,
      reachesTest: reachesTest(config, before, cost),
      trees,
      scored,
      batch,
      report,
      metrics: {
        "training/global_step": step,
        "training/epoch": loader.epoch,
        "training/progress": this.progress,
        "cost/tokens": cost.tokens,
        "cost/calls": cost.calls,
        "cost/trajectories": cost.trajectories,
        ...batchMetrics(scored, batch, config.actor_rollout_ref.rollout.response_length),
        ...(this.#queue.plan.isAsync ? freshFigures : {}),
        ...report?.metrics,
        ...criticMetrics,
        ...credit.metrics,
        ...entropyMetrics(trees),
        ...treeMetrics(scored, batch, { generated }),
        ...taken.metrics,
        ...gathered.metrics,
        // A tool's times differ from run to run and belong to the timing.
        ...Object.fromEntries(Object.entries(tool).filter(([name]) => !/time/.test(name))),
      },
      timing: {
        ...clock.seconds(),
        ...this.#cpuSeconds(clock),
        "timing_s/tool_calls": toolSeconds(trees),
        ...Object.fromEntries(Object.entries(tool).filter(([name]) => /time/.test(name))),
      },
      findings: diagnose(scored),
    };
  }

  /** CPU seconds of all steps that this trainer has done; nothing where nobody tells them. */
  #cpuSeconds(clock: StepClock): Record<string, number> {
    const seconds = clock.cpuSeconds();
    return seconds === undefined ? {} : { "perf/cpu_seconds": (this.#cpu += seconds) };
  }

  #tell(step: number, doing: string, count: { done?: number; of?: number } = {}): void {
    const { totalSteps, progress } = this;
    this.parts.onProgress?.({ step, totalSteps, progress, doing, ...count });
  }

  /** Where trajectories act; a run tells of the tools of all its steps together. */
  get #acting() {
    return defined({ environment: this.parts.environment, quiet: true });
  }

  /** The step's batch, drawn now or earlier, and what it took to get it. */
  async #take(step: number, clock: StepClock) {
    const { drawn = step - 1, loader, cost } = this.#state;
    const left = this.totalSteps - step + 1;
    return this.#queue.take({ version: step - 1, drawn, left, loader }, (how) =>
      drawBatch(how, {
        ...{ parts: this.parts, clock, spent: cost.tokens },
        seed: this.#seedFor("rollout", how.number),
        tell: (doing, count) => this.#tell(step, doing, count),
        score: (trees) => this.#score(trees, this.parts.reward),
        finalRewards: async (scored) => {
          const sequences = await this.learner.prepare(sequencesOf(scored));
          const { rewards } = await this.#klPenalty(scored, sequences);
          return rewards.map((sequence) => sequence.reduce((sum, r) => sum + r, 0));
        },
      }),
    );
  }

  #score(trees: readonly RolloutTree<Task>[], reward: Reward): Promise<Scored> {
    const { config, signal } = this.parts;
    return score(trees, reward, { ...scoreOptions(config), signal });
  }

  async #advantages(scored: Scored, step: number, clock: StepClock) {
    const options = laidOver(advantageOptions(this.parts.config), this.parts.told?.advantages);
    // Values, and log-probabilities for a KL penalty, are needed before there are advantages.
    const bare = sequencesOf(scored);
    const values = await this.critic?.values(bare).finally(() => clock.mark("values"));
    const { use_kl_in_reward: penalised, adv_estimator: name } = this.parts.config.algorithm;
    const needs = needsOf(name);
    const prepared = await clock.time("old_log_prob", () => this.learner.prepare(bare, {}, needs));
    const valued = values ? prepared.map((one, i) => ({ ...one, values: values[i]! })) : prepared;
    const penalty = penalised ? await this.#klPenalty(scored, valued) : undefined;
    const greedy = needs === "baselines" ? await this.#greedyBaselines(scored, step) : undefined;
    const batch = advantages(scored, {
      ...{ ...options, rows: valued },
      ...(penalty ? { tokenRewards: penalty.rewards } : {}),
      ...(greedy ? { baselines: greedy.baselines } : {}),
    });
    clock.mark("adv");
    return {
      batch,
      kl: penalty?.control ?? this.#state.kl,
      metrics: penalty?.metrics ?? {},
      baselines: greedy?.cost ?? noCost,
    };
  }

  async #klPenalty(scored: Scored, sequences: readonly PreparedSequence[]) {
    const { config, reference } = this.parts;
    if (!reference) {
      throw new TypeError("Cannot use KL in the reward: a reference model must be given, got none");
    }
    const { logprobs } = await this.learner.logProbs(sequences, { model: reference });
    return klInReward(
      {
        scores: scored.trajectories.map(placeReward),
        oldLogprobs: sequences.map((sequence) => sequence.oldLogprobs),
        refLogprobs: logprobs,
        // What the sampler did not draw has no log-probability where nothing is measured.
        mask: sequences.map((sequence) =>
          sequence.oldFrom === "sampler" ? trainedMask(sequence) : sequence.trajectory.lossMask,
        ),
      },
      { kind: config.algorithm.kl_penalty, control: this.#state.kl },
    );
  }

  /** ReMax's baseline: the reward of each prompt's greedy answer, for each of its trajectories, and what they cost. */
  async #greedyBaselines(scored: Scored, step: number) {
    const { config, told, policy, tools, reward, signal } = this.parts;
    const tasks = scored.trees.map(({ task }) => task as Task);
    const greedy = await rollout(policy, tasks, {
      ...laidOver(rolloutOptions(config), told?.rollout),
      mode: "validate",
      validation: { temperature: 0 },
      n: 1,
      initialRollouts: 1,
      tools,
      ...this.#acting,
      seed: this.#seedFor("baseline", step),
      signal,
    });
    const { trajectories: sequences } = await this.#score(greedy, reward);
    const byTree = new Map(scored.trees.map(({ index }, i) => [index, sequences[i]!.score.score]));
    const baselines = scored.trajectories.map(({ trajectory }) => byTree.get(trajectory.tree)!);
    return { baselines, cost: spentOn(greedy) };
  }

  /** Rolls out the validation tasks and gives the figures, under the reference's names. */
  async validate(): Promise<{
    metrics: Record<string, number>;
    trees: RolloutTree<Task>[];
    scored: Scored;
  }> {
    const { config, told, policy, tools, reward, validation, signal } = this.parts;
    const samples = config.actor_rollout_ref.rollout.val_kwargs.n;
    this.#tell(this.step, "validating");
    const trees: RolloutTree<Task>[] = [];
    for (let sample = 0; sample < samples; sample++) {
      trees.push(
        ...(await rollout(policy, validation, {
          ...laidOver(validationOptions(config), told?.rollout),
          tools,
          ...this.#acting,
          seed: this.#seedFor("validation", sample),
          signal,
        })),
      );
    }
    const scored = await this.#score(trees, reward);
    const sources = new Map(validation.map((task) => [task.id, task.dataSource]));
    const sequences = scored.trajectories.map(({ group, score: { score: value } }) => ({
      dataSource: sources.get(group)!,
      question: group,
      score: value,
    }));
    return { metrics: validationMetrics(sequences), trees, scored };
  }
}
