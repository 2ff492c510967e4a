import { packagePath } from "#platform/modules";
import { evaluate } from "../../eval/evaluate.js";
import { readRollouts } from "../../formats/read-rollouts.js";
import { advantages } from "../../learn/advantages.js";
import { rightSibling } from "../../learn/distillation/siblings.js";
import { evidence } from "../../measure/evidence/find-evidence.js";
import { Model } from "../../model/transformer/transformer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import type { Scored } from "../../reward/scored.js";
import { score } from "../../reward/score-trees.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { board } from "../board/board.js";
import { branchingView } from "../branching/branching-view.js";
import { creditView } from "../credit/credit-view.js";
import { explain } from "../explain/explain.js";
import { explore } from "../explorer/explore.js";
import { compareRuns, passAtKCurve, rewardCurves } from "../figures/curves.js";
import { entropyProfile } from "../figures/entropy-profile.js";
import { branchTimeline, entropyTree, tokenEntropy, toolUse } from "../figures/trees.js";
import { advantageHeat, clipScatter } from "../figures/updates.js";
import { showImported } from "../imported/imported-view.js";
import { entropyRibbon } from "../ribbon/entropy-ribbon.js";
import { clipComparison } from "../tokens/clip-comparison.js";
import { theLoop } from "../loop/the-loop.js";
import { clipTuner } from "../tokens/tuner/clip-tuner.js";
import { teacherView } from "../tokens/teacher-view.js";
import { tokenView } from "../tokens/token-view.js";
import { sampleReport } from "./sample-report.js";
import { sampleTree } from "./sample-tree.js";

/** A run's metrics that rise, with a wobble of their own. */
const curve = (rise: number) =>
  Array.from({ length: 24 }, (_, step) => ({
    step,
    "critic/score/mean": rise * step + 0.05 * Math.sin(step * (1 + 5 * rise)),
    "actor/entropy_loss": 1.2 - rise * step,
    "actor/ppo_kl": 0.002 * (1 + Math.cos(step)),
    "actor/pg_clipfrac": 0.01 + 0.01 * Math.sin(step / 3) ** 2,
    "response_length/mean": 60 + 2 * step * (1 - rise),
  }));

/** A reward in whose scores right, wrong and invalid answers occur. */
const lengthReward = ({ length = 0 }) => ({
  score: [0, 1, -1][length % 3]!,
  reason: `a response of ${length} tokens, judged by its length alone`,
});

const byLength = (trees: RolloutTree[]): Promise<Scored> =>
  score(trees as Parameters<typeof score>[0] & RolloutTree[], lengthReward);

/** A model of random weights for trees without one. */
const smallPolicy = (seed: number) =>
  new ModelPolicy(
    Model.init({ vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 }, seed),
    new CodePointTokenizer(),
  );

/**
 * A value of every kind that shows itself in a view, and every figure; of trees that a model wrote where
 * they are given.
 */
export async function everyView(given?: {
  trees: RolloutTree[];
  scored: Scored;
  policy: ModelPolicy;
}): Promise<Record<string, object>> {
  const trees = given?.trees ?? [await sampleTree({ seed: 1 })];
  const [tree] = trees as [RolloutTree, ...RolloutTree[]];
  const scored = given?.scored ?? (await byLength(trees));
  const batch = advantages(scored, { estimator: "grpo" });
  const report = await sampleReport({}, batch);
  const policy = new ScriptedPolicy(({ text }) => ({
    text: `<answer>\\boxed{${text.includes("40 + 80") ? "520" : "1"}}</answer>`,
  }));
  const rows = ["42", "54", "6 times 7 is 42"].map((output, step) => {
    return { input: "6*7?", output, score: Number(output !== "54"), step };
  });
  const runs = { arpo: [curve(0.03), curve(0.025)], grpo: [curve(0.015), curve(0.02)] };
  return {
    ...{ scored, batch, report },
    explorer: explore(tree, { scored, batch }),
    credit: creditView(scored),
    branching: branchingView(tree),
    tokens: tokenView(report),
    clipping: clipComparison(report.batch),
    tuner: clipTuner(report),
    teacher: await teacherView(
      given?.policy ?? smallPolicy(1),
      batch,
      given ? rightSibling() : smallPolicy(2),
    ),
    explain: explain(report),
    evaluation: await evaluate(policy, "aime24-lookalike", { samples: 2 }),
    imported: showImported(readRollouts(rows)),
    board: board(runs),
    ribbon: entropyRibbon(trees, { scored }),
    evidence: await evidence(tree, { results: 4, ...(given ? {} : { reward: lengthReward }) }),
    loop: await theLoop(packagePath("data/loop.json")),
    "figure-entropy-tree": entropyTree(tree),
    "figure-entropy-profile": entropyProfile(trees),
    "figure-branch-timeline": branchTimeline(tree),
    "figure-token-entropy": tokenEntropy(tree.trajectories[0]!),
    "figure-advantage-heat": advantageHeat(batch),
    "figure-clip-scatter": clipScatter(report),
    "figure-tool-use": toolUse(trees),
    "figure-reward-curves": rewardCurves(curve(0.03)),
    "figure-compare-runs": compareRuns(runs),
    "figure-pass-at-k": passAtKCurve({
      arpo: [{ n: 8, correct: 3 }],
      grpo: [{ n: 8, correct: 1 }],
    }),
  };
}
