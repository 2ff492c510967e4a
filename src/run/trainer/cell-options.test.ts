import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../config/load.js";
import { get, type Tree } from "../config/tree.js";
import { Model } from "../../model/transformer/transformer.js";
import { Policy } from "../../policy/policies.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { advantageRules } from "../../learn/advantages.js";
import { definePlainEstimator } from "../../learn/estimators/definition.js";
import { rlooEstimator } from "../../learn/estimators/plain/rloo.js";
import { cispo } from "../../learn/losses/cispo.js";
import { updateRules } from "../../learn/update/update-settings.js";
import { rolloutRules } from "../../rollout/options.js";
import { algorithmPresets } from "../../rollout/presets.js";
import { treeGrpo } from "../../rollout/rules/tree-grpo.js";
import { tasks } from "../../tasks/tasks/index.js";
import { ToolSet } from "../../tools/tool-set.js";
import { trainOn } from "./train-cells.js";
import { type CellTraining, cellKeys, cellRules, cellTold } from "./cell-options.js";

// Options that `rollout`, `advantages` and `update` take, under their names in a cell: where the configuration has them.

const ref = "actor_rollout_ref";
const actor = `${ref}.actor`;
const rollout = `${ref}.rollout`;

const cases: readonly [option: CellTraining, key: string, value: unknown][] = [
  [{ steps: 3 }, "trainer.total_training_steps", 3],
  [{ prompts: 6 }, "data.train_batch_size", 6],
  [{ miniBatch: 4 }, `${actor}.ppo_mini_batch_size`, 4],
  [{ prompts: 5 }, `${actor}.ppo_mini_batch_size`, 1],
  [{ seed: 7 }, "lab.seed", 7],
  [{ responseLength: 9 }, `${rollout}.response_length`, 9],
  [{ tokensPerStep: 90 }, "lab.budget.tokens_per_step", 90],
  [{ budget: { calls: 5 } }, "lab.budget.calls", 5],
  [{ warmup: { tokens: 5 } }, "lab.budget.warmup_tokens", 5],
  [{ testAt: { calls: [5] } }, "lab.budget.test_at_calls", [5]],
  [{ n: 6 }, `${rollout}.n`, 6],
  [{ n: 6 }, `${rollout}.initial_rollouts`, 3],
  [{ n: 6, initialRollouts: 5 }, `${rollout}.initial_rollouts`, 5],
  [{ beamSize: 3 }, `${rollout}.beam_size`, 3],
  [{ branchProbability: 0.3 }, `${rollout}.branch_probability`, 0.3],
  [{ entropyWeight: 0.2 }, `${rollout}.entropy_weight`, 0.2],
  [{ callLimit: 2 }, `${rollout}.tools.call_limit`, 2],
  [{ sampling: { temperature: 0.5 } }, `${rollout}.temperature`, 0.5],
  [{ sampling: { topK: 5 } }, `${rollout}.top_k`, 5],
  [{ sampling: { topP: 0.9 } }, `${rollout}.top_p`, 0.9],
  [{ dynamicRollouts: true }, `${rollout}.enable_dynamic_rollouts`, true],
  [{ dynamicRollouts: { tokens: 9 } }, `${rollout}.initial_entropy_tokens`, 9],
  [{ preset: "aepo", dynamicRollouts: false }, `${rollout}.enable_dynamic_rollouts`, false],
  [{ rule: "arpo-paper" }, "lab.branch_rule", "arpo-paper"],
  [{ rule: "tree-grpo", expand: { trees: 3 } }, `${rollout}.n`, 9],
  [{ rule: "redraw", expand: { signal: "top-entropy" } }, "lab.expand.signal", "top-entropy"],
  [{ estimator: "rloo" }, "algorithm.adv_estimator", "rloo"],
  [{ gamma: 0.9 }, "algorithm.gamma", 0.9],
  [{ lambda: 0.8 }, "algorithm.lam", 0.8],
  [{ normalizeByDeviation: false }, "algorithm.norm_adv_by_std_in_grpo", false],
  [{ loss: "cispo" }, `${actor}.policy_loss.loss_mode`, "cispo"],
  [{ clipRatio: 0.1 }, `${actor}.clip_ratio`, 0.1],
  [{ clipRatioLow: 0.1 }, `${actor}.clip_ratio_low`, 0.1],
  [{ clipRatioHigh: 0.3 }, `${actor}.clip_ratio_high`, 0.3],
  [{ clipRatioC: 5 }, `${actor}.clip_ratio_c`, 5],
  [{ aggregation: "token-sum" }, `${actor}.loss_agg_mode`, "token-sum"],
  [{ aggregationRule: "older" }, "lab.loss_aggregation", "older"],
  [{ paddedLength: 64 }, `${actor}.loss_scale_factor`, 64],
  [{ entropyBalancedClipping: true }, `${actor}.enable_entropy_balanced_clipping`, true],
  [{ entropyBalancedAdvantage: true }, `${actor}.enable_entropy_balanced_advantage`, true],
  [{ entropyCoefficient: 0.01 }, `${actor}.entropy_coeff`, 0.01],
  [{ klLossCoefficient: 0.02 }, `${actor}.kl_loss_coef`, 0.02],
  [{ klLossCoefficient: 0.02 }, `${actor}.use_kl_loss`, true],
  [{ klLossCoefficient: 0.02, klLossKind: "k1" }, `${actor}.kl_loss_type`, "k1"],
  [{ weightDecay: 0.1 }, `${actor}.optim.weight_decay`, 0.1],
  [{ maxNorm: 2 }, `${actor}.grad_clip`, 2],
  [{ epochs: 2 }, `${actor}.ppo_epochs`, 2],
  [{ checkpointing: false }, `${ref}.model.enable_gradient_checkpointing`, false],
  [{ sharedPrefixes: true }, "lab.share_prefixes", true],
  [{ reuseLogProbs: true }, "lab.reuse_log_probs", true],
];

for (const [options, key, value] of cases) {
  test(`trainOn() takes ${JSON.stringify(options)}`, async () => {
    const { preset = "arpo" } = options;
    const values = cellKeys(options);
    const { config } = await loadConfig({ preset: [preset, "tiny"], values });
    assert.deepEqual(get(config as unknown as Tree, key), value);
  });
}

test("trainOn() takes every option of rollout, advantages and update that is not of one call alone", () => {
  const ofOneCall = [
    ...["current", "judge", "firstIndex", "finished", "draws", "onEvent", "mode"],
    ...["values", "rows", "baselines", "tokenRewards"],
    ...["random", "shuffle"],
  ];
  const theirs = { ...rolloutRules, ...advantageRules({}), ...updateRules() };
  const missing = Object.keys(theirs).filter((name) => !Object.hasOwn(cellRules({}), name));
  assert.deepEqual(missing.toSorted(), ofOneCall.toSorted());
});

const told: readonly [option: CellTraining, told: ReturnType<typeof cellTold>][] = [
  [{ threshold: 0.4 }, { rollout: { threshold: 0.4 } }],
  [{ sampling: { minP: 0.1 } }, { rollout: { sampling: { minP: 0.1 } } }],
  [{ dynamicRollouts: { beta: 2 } }, { rollout: { dynamicRollouts: { beta: 2 } } }],
  [{ calls: "hermes" }, { rollout: { calls: "hermes" } }],
  [{ promptsAtOnce: 2 }, { rollout: { promptsAtOnce: 2 } }],
  [{ attribution: "hard" }, { advantages: { attribution: "hard" } }],
  [{ treeGrpo: { epsilon: 1e-3 } }, { advantages: { treeGrpo: { epsilon: 1e-3 } } }],
  [{ referenceNaN: true }, { update: { referenceNaN: true } }],
  [{ maxTokensPerPass: 64 }, { update: { maxTokensPerPass: 64 } }],
  [{ rolloutCorrection: false }, { update: { rolloutCorrection: false } }],
];

for (const [options, expected] of told) {
  test(`trainOn() takes ${JSON.stringify(options)}, which has no key`, async () => {
    await loadConfig({ preset: ["arpo", "tiny"], values: cellKeys(options) });
    assert.deepEqual(cellTold(options), { rollout: {}, advantages: {}, update: {}, ...expected });
  });
}

const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const small = { steps: 1, prompts: 1, responseLength: 6, live: false, tools: new ToolSet() };
const reward = ({ response }: { response: string }) => response.length;

/** The trees' settings, the estimator and the loss of one small step. */
async function step(options: CellTraining) {
  const policy = Policy.fromModel(
    Model.init({ ...sizes, contextLength: 128 }, 1),
    new CodePointTokenizer(),
  );
  try {
    const { steps } = await trainOn(policy, tasks.calc({ train: 1, test: 0 }), {
      ...{ ...small, reward },
      ...options,
    });
    const [{ trees, batch, report }] = steps as [(typeof steps)[number]];
    return { config: trees[0]!.config, estimator: batch.estimator, report: report! };
  } finally {
    policy.dispose();
  }
}

for (const preset of Object.keys(algorithmPresets)) {
  test(`trainOn() takes preset ${preset}, and options beside it override it`, async () => {
    const options = { preset, sampling: { temperature: 0.7 }, learningRate: 1e-4 } as CellTraining;
    const { config } = await step(options);
    assert.equal(config.sampling.temperature, 0.7);
  });
}

test("trainOn() takes a rule, an estimator and a loss as definitions, also others of the same names", async () => {
  for (const gain of [1, 2]) {
    const rule = { ...treeGrpo, name: "own-rule", words: `${gain}` };
    const estimator = definePlainEstimator({
      ...{ ...rlooEstimator, name: "own_estimator" },
      estimate: (input, how) => {
        const { advantages, returns } = rlooEstimator.estimate(input, how);
        return { advantages: advantages.map((one) => one.map((a) => a * gain)), returns };
      },
    });
    let asked = 0;
    const loss = {
      ...{ ...cispo, name: "own-loss" },
      tensors: (...given: Parameters<typeof cispo.tensors>) => {
        asked++;
        return cispo.tensors(...given);
      },
    };
    const made = await step({ rule, estimator, loss });
    assert.equal(made.config.rule, "own-rule");
    assert.equal(made.estimator, "own_estimator");
    assert.ok(asked > 0);
  }
});

test("trainOn() takes options without a key: a tree says so", async () => {
  const { config } = await step({ n: 2, threshold: 0.25, sampling: { minP: 0.1 } });
  assert.equal(config.threshold, 0.25);
  assert.deepEqual(config.sampling, { temperature: 1, topK: -1, topP: 1, minP: 0.1 });
});

test("trainOn() names the setting of a rule that is none", async () => {
  const train = (options: object) =>
    trainOn({ session() {}, tokenizer: {} } as never, tasks.calc({ train: 1, test: 0 }), options);
  await assert.rejects(train({ preset: "treepo", expand: { segmant: 3 } }), {
    message:
      /^Cannot train: every option must be known, got expand\.segmant; did you mean expand\.segment\?/,
  });
  await assert.rejects(train({ expand: { segment: 3 } }), {
    message: /^Cannot train: expand is for the rules tree-grpo, .*, got arpo-code$/,
  });
});
