import { defined } from "../../../common/options/defined.js";
import { curveOf, meansByStep, rangeOf } from "../figures/curves.js";
import type { CurvePanel, PanelCurve } from "../draw/draw-panel.js";
import type { RunRecord } from "./read-runs.js";

interface PanelPlan {
  title: string;
  help: string;
  /** Which metrics, and what each is called in the panel. */
  pick: (metric: string) => string | undefined;
  stacked?: boolean;
  /** What a reader asks for first; it stands beside the tree. */
  isFirst?: boolean;
}

const named =
  (names: Record<string, string>) =>
  (metric: string): string | undefined =>
    names[metric];
const matching = (pattern: RegExp) => (metric: string) => pattern.exec(metric)?.[1];

const plans: PanelPlan[] = [
  {
    title: "Loss",
    isFirst: true,
    help: "Mean cross-entropy of the tokens that fine-tuning learns, and of those held out.",
    pick: named({ "train/loss": "training", "val/loss": "held out" }),
  },
  {
    title: "Score",
    isFirst: true,
    help: "Mean score of the step's rollouts.",
    pick: named({ "critic/score/mean": "mean" }),
  },
  {
    title: "Held-out score",
    isFirst: true,
    help: "Mean score on tasks that are not trained on.",
    pick: matching(/^val-core\/(.+)\/reward\/mean@\d+$/),
  },
  {
    title: "Parts of the reward",
    help: "Mean of each part that the reward tells, such as format and accuracy.",
    pick: matching(/^reward\/(.+)\/mean$/),
  },
  {
    title: "Entropy",
    help: "Mean entropy of the policy at the tokens it wrote, in nats.",
    pick: named({ "actor/entropy_loss": "entropy" }),
  },
  {
    title: "Entropy at calls",
    help: "How much more likely the most uncertain tokens stand near tool calls than any token; 1 is no concentration.",
    pick: named({ "tree/entropy_at_calls": "concentration" }),
  },
  {
    title: "Decided by entropy",
    help: "Share of the branch decisions that the entropy term changes; the others a coin with the same draws makes too.",
    pick: named({ "branch/decided_by_entropy": "changed" }),
  },
  {
    title: "Mixed outcomes",
    help: "Share of prompts, trees, forks and tool answers whose trajectories are some right and some wrong: where there is something to learn.",
    pick: (metric) => {
      const kind = /^tree\/mixed_outcome_ratio(?:_(.+))?$/.exec(metric);
      return kind ? (kind[1] ?? "prompts").replace("anchors", "tool answers") : undefined;
    },
  },
  {
    title: "Credit",
    help: "Mean size of a token's advantage, and how much the advantages of one trajectory differ.",
    pick: named({
      "tree/informative_mass": "size",
      "tree/credit_spread": "spread in a trajectory",
    }),
  },
  {
    title: "Tokens per leaf",
    help: "Tokens drawn for each trajectory that is trained on; what trajectories share counts once.",
    pick: named({ "tree/tokens_per_leaf": "tokens" }),
  },
  {
    title: "Tokens spent",
    help: "Tokens drawn in training so far; what trajectories share counts once.",
    pick: named({ "cost/tokens": "tokens" }),
  },
  {
    title: "Tool calls spent",
    help: "Tool calls made in training so far.",
    pick: named({ "cost/calls": "calls" }),
  },
  {
    title: "Prompts filtered",
    help: "Prompts rolled out for a step, and those dropped because their trajectories were all the same.",
    pick: named({ "filter/generated": "rolled out", "filter/dropped": "dropped" }),
  },
  {
    title: "KL",
    help: "How far the policy moved: from before the update, and from the reference.",
    pick: named({
      "actor/ppo_kl": "in the update",
      "actor/kl_loss": "from the reference",
      "actor/reward_kl_penalty": "penalty in the reward",
    }),
  },
  {
    title: "Mismatch with the sampler",
    help: "KL between what sampled and what trains, and the share of tokens that their weights leave in effect.",
    pick: named({
      "rollout_corr/k3_kl": "KL",
      "rollout_corr/rollout_is_eff_sample_size": "effective share",
      // What verl says of the same.
      "training/rollout_probs_diff_mean": "difference of p, mean",
      "training/rollout_probs_diff_max": "difference of p, greatest",
    }),
  },
  {
    title: "Age of rollouts",
    help: "How many updates older the weights were that sampled the tokens trained on.",
    pick: named({ "staleness/age/mean": "mean", "staleness/age/max": "oldest" }),
  },
  {
    title: "Effect of age",
    help: "The ratio p / p_sampler before the update, and the share of tokens and trajectories that its weights leave in effect.",
    pick: named({
      "staleness/ratio/mean": "ratio, mean",
      "staleness/effective_tokens": "effective tokens",
      "staleness/effective_trajectories": "effective trajectories",
    }),
  },
  {
    title: "Clip fractions",
    help: "Share of tokens whose ratio the clip cut, and the dual clip.",
    pick: named({ "actor/pg_clipfrac": "clip", "actor/pg_clipfrac_lower": "dual clip" }),
  },
  {
    title: "Gradient norm",
    help: "Before it was cut to its greatest norm.",
    pick: named({ "actor/grad_norm": "norm" }),
  },
  {
    title: "Learning rate",
    help: "The learning rate of the step.",
    pick: named({ "train/lr": "learning rate" }),
  },
  {
    title: "Tool calls per sample",
    help: "Mean number of tool calls of a rollout.",
    pick: named({ "tools/calls_per_sample": "calls" }),
  },
  {
    title: "Failed tool calls",
    help: "How many calls of the step failed.",
    pick: named({ "tools/failed_calls": "failed" }),
  },
  {
    title: "Response length",
    help: "Tokens of a response, those of tools included.",
    pick: named({ "response_length/mean": "mean", "response_length/max": "longest" }),
  },
];

const parts: Record<string, string> = {
  "timing_s/gen": "rollout",
  "timing_s/reward": "reward",
  "timing_s/old_log_prob": "log-probs",
  "timing_s/values": "values",
  "timing_s/adv": "advantages",
  "timing_s/update_critic": "critic",
  "timing_s/update_actor": "update",
};

const split: PanelPlan = {
  title: "Seconds per step",
  help: "Where the time of a step went.",
  pick: named(parts),
  stacked: true,
};
const whole: PanelPlan = {
  title: "Seconds per step",
  help: "How long a step took.",
  pick: named({ "timing_s/step": "step" }),
};

const cpu: PanelPlan = {
  title: "CPU seconds",
  help: "CPU time of the steps so far, that of tools' processes included.",
  pick: named({ "perf/cpu_seconds": "seconds" }),
};

const short = (x: number) => Number(x.toPrecision(5));

/** The mean over those of the seeds that have come to a step; one seed alone has no interval. */
function curveOver(seeds: readonly RunRecord[], metric: string): Omit<PanelCurve, "run" | "label"> {
  if (seeds.length === 1) {
    const points = curveOf(seeds[0]!.lines, metric);
    return { x: points.map(({ step }) => step), y: points.map(({ value }) => short(value)) };
  }
  const lines = seeds.map((seed) => seed.lines);
  const means = meansByStep(lines, metric);
  const end = (value: number) => (Number.isNaN(value) ? null : short(value));
  return {
    x: means.map(({ step }) => step),
    y: means.map(({ mean }) => short(mean)),
    low: means.map(({ mean, half }) => end(mean - half)),
    high: means.map(({ mean, half }) => end(mean + half)),
    ...defined({ range: rangeOf(lines, metric) }),
  };
}

/** The pictures of a board: those for which some run has figures. */
export function makePanels(runs: readonly (readonly RunRecord[])[]): CurvePanel[] {
  const all = [...plans, runs.length === 1 ? split : whole, cpu];
  return all.flatMap(({ title, help, pick, stacked = false, isFirst }): CurvePanel[] => {
    const labels: string[] = [];
    const curves = runs.flatMap((seeds, run): PanelCurve[] => {
      const metrics = [...new Set(seeds.flatMap(({ lines }) => lines.flatMap(Object.keys)))];
      return metrics.flatMap((metric) => {
        const label = pick(metric);
        if (label === undefined) return [];
        const curve = curveOver(seeds, metric);
        if (curve.x.length === 0) return [];
        if (!labels.includes(label)) labels.push(label);
        return [{ run, label, ...curve }];
      });
    });
    return curves.length === 0
      ? []
      : [{ title, help, stacked, ...defined({ isFirst }), labels, curves }];
  });
}
