// The toolkit's stage cells. The kernel finds them through package.json and rewrites each into the
// calls of its template; `%%show` prints what it wrote. Plain data: nothing of the kernel is imported. The names of
// choices are read when they are asked for: those that a program added by then are among them.
import { estimatorsByName, needsOf } from "../learn/estimators/registry.js";
import { algorithmPresets } from "../rollout/presets.js";
import { rules } from "../rollout/rules/registry.js";
import { lossRegistry } from "../learn/losses/registry.js";

interface StageOption {
  doc: string;
  type: string;
  default?: string;
  as?: string;
}

interface Stage {
  name: string;
  doc: string;
  options: Record<string, StageOption>;
  into?: string;
  template: string;
  uses?: Record<string, string>;
  body?: string;
  long?: boolean;
}

const choice = (...names: string[]) => names.map((name) => JSON.stringify(name)).join(" | ");
const methods = choice(...Object.keys(algorithmPresets));
const preset: StageOption = {
  doc: "The algorithm's published settings.",
  type: methods,
  default: "arpo",
};
const number = (doc: string): StageOption => ({ doc, type: "number" });

/** `%%rollout`, `%%reward`, `%%advantage`, `%%update`, `%%train` and `%%sft`. */
export const stages: Stage[] = [
  {
    name: "rollout",
    long: true,
    doc: "Rolls out the task (or tasks) in the body into a tree of tool-using trajectories.",
    options: {
      preset,
      n: number("Trajectories per prompt."),
      initialRollouts: number("Trajectories each prompt starts with; the rest branch off."),
      beamSize: number("A surviving trajectory tries beamSize - 1 branches a round."),
      branchProbability: number("Base probability of the branching rule."),
      entropyWeight: number("Weight of the entropy change in the branching rule."),
      responseLength: number("Longest response in tokens."),
      callLimit: number("Tool calls per trajectory."),
      seed: number("Same seed, same tree."),
      rule: {
        doc: "The branching rule.",
        get type() {
          return choice(...rules.names);
        },
      },
    },
    into: "tree",
    template: "const {into} = await rollout(policy, {body}, { tools, ...{options} }); {into}",
    uses: {
      rollout: "arpo-lab",
      tasks: "arpo-lab",
      policy: "arpo-lab/internal/stages",
      tools: "arpo-lab/internal/stages",
    },
    body: "tasks.calc({ seed: 7 }).train[0]!",
  },
  {
    name: "reward",
    doc: "Scores the trajectories of `tree` with the reward in the body: a function, a groupReward, a judgeReward, a rubric.",
    options: {
      concurrency: number("Rewards that may be under way at the same time."),
      timeoutMs: number("How long one call of the reward may take."),
    },
    into: "scored",
    template: "const {into} = await score(tree, {body}, {options}); {into}",
    uses: { score: "arpo-lab", deepResearch: "arpo-lab" },
    body: "deepResearch",
  },
  {
    name: "advantage",
    doc: "Spreads the scores of `scored` over tokens.",
    options: {
      estimator: {
        doc: "How scores become advantages.",
        // The others need what a cell does not have: a critic, greedy answers, measured distributions.
        get type() {
          return choice(...estimatorsByName.names.filter((name) => needsOf(name) === undefined));
        },
        default: "grpo",
      },
      attribution: { doc: "Whose advantage shared tokens get.", type: '"soft" | "hard"' },
    },
    into: "batch",
    template: "const {into} = advantages(scored, {options}); {into}",
    uses: { advantages: "arpo-lab" },
  },
  {
    name: "update",
    doc: "One update of `policy` along the advantages of `batch`.",
    options: {
      preset,
      learningRate: number("AdamW's learning rate."),
      epochs: number("Passes over the batch."),
      miniBatchSize: number("Trajectories per optimiser step."),
      loss: {
        doc: "The policy loss.",
        get type() {
          return choice(...lossRegistry.names);
        },
      },
      correction: {
        doc: "Weigh tokens by how likely they are now against when they were sampled; unset: where another policy sampled.",
        type: "boolean",
        as: "rolloutCorrection: {value}",
      },
    },
    into: "report",
    template: "const {into} = await update(policy, batch, {options}); {into}",
    uses: { update: "arpo-lab", policy: "arpo-lab/internal/stages" },
  },
  {
    name: "train",
    long: true,
    doc: "Trains `policy` in place on the family of tasks in the body.",
    options: {
      preset: { doc: "The algorithm.", type: choice("grpo", "arpo", "aepo"), default: "arpo" },
      steps: { ...number("How many steps."), default: "10" },
      prompts: number("Prompts per step."),
      n: number("Trajectories per prompt."),
      learningRate: number("AdamW's learning rate."),
      testEvery: number("Measure the held-out tasks every so many steps."),
      seed: number("Same seed, same run."),
    },
    into: "run",
    template: "const {into} = await trainOn(policy, {body}, { tools, ...{options} }); {into}",
    uses: {
      trainOn: "arpo-lab",
      tasks: "arpo-lab",
      policy: "arpo-lab/internal/stages",
      tools: "arpo-lab/internal/stages",
    },
    body: "tasks.calc({ seed: 7 })",
  },
  {
    name: "sft",
    long: true,
    doc: "Fine-tunes `policy` in place on the demonstrations in the body.",
    options: {
      learningRate: number("AdamW's learning rate."),
      epochs: number("Passes over the demonstrations."),
      batchSize: number("Sequences per forward pass."),
    },
    into: "tuning",
    template: "const {into} = await fineTune(policy, {body}, {options}); {into}",
    uses: { fineTune: "arpo-lab", policy: "arpo-lab/internal/stages" },
  },
];
