import { decideBranch } from "../../../src/rollout/rules/decide-branch.js";
import type { BranchRule } from "../../../src/rollout/rules/registry.js";
import { dynamicBudget } from "../../../src/rollout/branch/dynamic-budget.js";
import { EntropyBaselines } from "../../../src/rollout/branch/entropy-baselines.js";
import { responseAttention } from "../../../src/rollout/tree/trajectory.js";
import { segmentEntropy } from "../../../src/rollout/branch/segment-entropy.js";
import { toolContent } from "../../../src/base/text/call-input.js";
import { runTrees } from "../rollout-trees.js";
import type { Runners } from "../runner.js";
import { scriptedSegment } from "../scripted.js";

export const runners: Runners = {
  token_entropy: ({ logprobs, vocab_size, max_positions }) => {
    const segment = scriptedSegment(new Array(logprobs.length).fill("x").join(""), logprobs);
    const entropy = (normalizer: "none" | "ln-vocab") =>
      segmentEntropy(segment, vocab_size, { positions: max_positions, normalizer });
    return { entropy_sum_nats: entropy("none"), entropy_normalised: entropy("ln-vocab") };
  },

  branch_decision: (input) => {
    // The slope is the papers'; the codes' is a literal.
    const decide = (rule: BranchRule) =>
      decideBranch(
        {
          rule,
          probability: input.branch_probability,
          weight: input.entropy_weight,
          threshold: input.paper_tau,
          penaltySlope: rule === "aepo-paper" ? input.paper_penalty_slope : 0.05,
        },
        {
          u: input.u,
          entropy: input.entropy_now,
          baseline: input.entropy_init,
          consecutive: input.consecutive,
        },
      );
    const code = ({ score, branch }: ReturnType<typeof decide>) => ({ score, branch });
    const paper = ({ score, branch }: ReturnType<typeof decide>) => ({ P: score, branch });
    return {
      arpo_code: code(decide("arpo-code")),
      aepo_code: code(decide("aepo-code")),
      arpo_paper: paper(decide("arpo-paper")),
      aepo_paper: paper(decide("aepo-paper")),
      seed_docs: { branch: decide("seed-docs").branch },
    };
  },

  dynamic_budget: ({ k, H_root, H_steps, beta }) => {
    const { sigmoid, share, initialRollouts } = dynamicBudget(k, H_root, H_steps, { beta });
    return { sigmoid, initial_rollouts_code: initialRollouts, m_paper_real_valued: share };
  },

  response_mask: ({ response_ids, eos }) => ({
    mask: (response_ids as number[][]).map((ids) => responseAttention(ids, [eos].flat())),
  }),

  tool_content_extraction: ({ text, tag }) => ({ training_last_block: toolContent(text, tag) }),

  rollout_arpo: (input) => runTrees(input, "arpo"),
  rollout_validation_mode: (input) => runTrees(input, "arpo"),
  rollout_aepo_static: (input) => runTrees(input, "aepo"),
  rollout_aepo_dynamic: (input) => runTrees(input, "aepo"),
  rollout_quirk_stale_baseline: async ({ calls, ...shared }) => {
    const baselines = new EntropyBaselines();
    const results = [];
    for (const call of calls) {
      const result = await runTrees({ ...shared, ...call }, "arpo", baselines);
      results.push({ ...result, initial_entropy_after: Object.fromEntries(baselines.entries()) });
    }
    return { calls: results };
  },
};
