import { defined } from "../../../common/options/defined.js";
import type { Evaluation } from "../../eval/report/evaluation.js";
import { isRight, type ScoredSample } from "../../eval/report/score-samples.js";
import type { Step } from "../../eval/infer/sample.js";
import { Scored } from "../../reward/scored.js";
import { rolloutConfig } from "../../rollout/config.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TrajectoryEnd, TreeNode, TreeTrajectory } from "../../rollout/tree/tree-values.js";
import { mean } from "../../base/statistics.js";

const floats = (values: readonly (number | null)[]) =>
  Float32Array.from(values, (value) => value ?? NaN);

const ends: Record<ScoredSample["status"], TrajectoryEnd> = {
  ...{ answered: "answer", unanswered: "answer", timeout: "length", context: "context" },
  error: "length",
};

function nodeOf(
  step: Step,
  place: { id: number; parent: number; trajectory: number; round: number },
) {
  const node: TreeNode = {
    ...place,
    kind: step.kind === "model" ? "model" : "tool",
    tokens: Int32Array.from(step.tokens),
    text: step.text,
    logprobs: new Float32Array(0),
    entropies: new Float32Array(0),
  };
  if (step.kind === "result") return { ...node, tool: { ...step.tool } };
  const entropies = floats(step.entropies);
  const known = entropies.filter((value) => !Number.isNaN(value));
  return {
    ...node,
    logprobs: floats(step.logprobs),
    entropies,
    ...(known.length === 0 ? {} : { entropy: mean(known) }),
    finish: step.finish,
    ...defined({ stop: step.stop }),
  };
}

/**
 * The samples of one question as a tree without branches, a trajectory for each, scored 1 where right: for
 * `explore`, token by token.
 */
export function questionTree(
  evaluation: Evaluation,
  benchmark: string,
  index: number,
): { tree: RolloutTree; scored: Scored } {
  const samples = evaluation.samplesOf(benchmark, index);
  const [first] = samples;
  if (!first) {
    throw new RangeError(
      `Cannot show a question: ${benchmark} must have samples of question ${index}, got none`,
    );
  }
  const { tokenizer, settings } = evaluation;
  const nodes: TreeNode[] = [];
  const trajectories = samples.map((sample, trajectory): TreeTrajectory => {
    let [parent, round] = [-1, 0];
    for (const step of sample.steps) {
      const id = nodes.length;
      nodes.push(nodeOf(step, { id, parent, trajectory, round }));
      if (step.kind === "result") round++;
      parent = id;
    }
    const calls = sample.steps.filter((s) => s.kind === "result" && s.rule === undefined).length;
    const end = ends[sample.status];
    return {
      id: trajectory,
      kind: "initial",
      round: 0,
      parent: -1,
      from: -1,
      leaf: parent,
      end,
      calls,
    };
  });
  const lengths = samples.map(({ steps }) => steps.reduce((sum, s) => sum + s.tokens.length, 0));
  const tokens = Int32Array.from(first.prompt_tokens);
  const { seed = 0, asked } = settings;
  const tree = new RolloutTree({
    task: { prompt: first.input },
    index: 0,
    policy: settings.policy,
    prompt: { text: tokenizer?.decode(tokens) ?? first.input, tokens },
    nodes,
    trajectories,
    config: rolloutConfig({
      n: trajectories.length,
      responseLength: Math.max(1, ...lengths),
      sampling: asked[benchmark]?.sampling ?? {},
      seed,
      keepTop: false,
    }),
    eosIds: [...(tokenizer?.eosIds ?? [])],
    padId: tokenizer?.padId ?? 0,
    cutTexts: {},
  });
  const scored = new Scored(
    tree.selected.map((trajectory, i) => {
      const sample = samples[i]!;
      const right = isRight(sample);
      const reason = `${right ? "right" : "wrong"} (${sample.status}): ${sample.prediction}`;
      return { trajectory, group: benchmark, score: { score: Number(right), reason } };
    }),
    [tree],
  );
  return { tree, scored };
}
