import { defined } from "../../../common/options/defined.js";
import {
  bypassWeights,
  correctionOf,
  type RolloutCorrection,
} from "../../../src/learn/correction/rollout-correction.js";
import { rejectionMask } from "../../../src/learn/correction/rejection.js";
import { settingsOf } from "../../../src/learn/losses/base/definition.js";
import { unmaskedAdvantages, unmaskedRow } from "../../../src/learn/losses/base/off-policy-mask.js";
import { tensorOps } from "../../../src/learn/losses/base/tensor-ops.js";
import type { LossRow } from "../../../src/learn/losses/base/token-rule.js";
import type { ActorLossOptions } from "../../../src/learn/losses/loss-rules.js";
import { decoupled, staleWeights } from "../../../src/learn/losses/sampler/decoupled.js";
import { primeIpo, primeRl } from "../../../src/learn/losses/sampler/prime-rl.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { distillationTable } from "../../../src/learn/distillation/options.js";
import { pulledBySampler, tokenDivergence } from "../../../src/learn/distillation/vocabulary.js";
import { tf } from "../../../src/tensor/tf.js";
import { completed } from "../../../common/options/option-table.js";
import {
  type Proximal,
  proximalLogprob,
  proximals,
  proximalTensor,
} from "../../../src/learn/losses/sampler/proximal.js";
import { ageOf, oldestVersion, mayDraw } from "../../../src/run/staleness/limits/definition.js";
import { stalenessLimits } from "../../../src/run/staleness/limits/registry.js";
import {
  lossAt,
  type Matrix,
  matrix,
  number,
  onRows,
  padded,
  set,
  type Tensor,
} from "../tensors.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

function decoupledLoss(v: any) {
  const { rejection } = v;
  const options = {
    ...{ loss: "decoupled" as const, clipRatioLow: v.eps_clip as number },
    ...{ clipRatioHigh: v.eps_clip_higher ?? v.eps_clip, clipRatioC: v.c_clip ?? 1e9 },
    ratioLevel: v.level,
    ...(rejection
      ? {
          ...{ staleAction: rejection.action, staleLevel: rejection.level },
          ...{ staleMetric: rejection.metric, staleAggregate: rejection.agg },
          ...defined({ staleUpper: rejection.upper, staleLower: set(rejection.lower) }),
        }
      : { staleAction: "none" as const }),
  };
  const fixed = {
    oldLogprobs: matrix(v.proximal_log_prob),
    sampledLogprobs: matrix(v.behaviour_log_prob),
    advantages: matrix(v.advantages),
    mask: matrix(v.mask),
  };
  const { loss, gradient, metrics } = lossAt(
    v.log_prob,
    (logprobs) => ({ ...fixed, logprobs }),
    options as ActorLossOptions,
  );
  const tokens = (v.mask as Matrix).flat().reduce((a, b) => a + b, 0);
  const count = (share: Tensor) => Math.round(number(share) * tokens);
  const rows = (v.mask as Matrix).map((mask, r): LossRow => ({
    ...{ logprobs: v.log_prob[r], oldLogprobs: v.proximal_log_prob[r], mask },
    ...{ sampledLogprobs: v.behaviour_log_prob[r], advantages: v.advantages[r] },
  }));
  return {
    loss,
    grad_log_prob: gradient,
    clipped: count(metrics.pg_clipfrac),
    dual_clipped: count(metrics.pg_clipfrac_lower),
    behaviour_weight: staleWeights(rows, settingsOf(decoupled as never, options) as never).map(
      ({ weights }) => weights,
    ),
    filtered_fraction: count(metrics["stale_changed"]!) / Math.max(1, tokens),
  };
}

function bypass(v: any) {
  const { loss_type, rollout_is, ...keys } = v.rollout_correction;
  const correction = correctionOf(
    {
      ...{ mode: "bypass", bypassLoss: loss_type, weights: rollout_is },
      ...{ reject: keys.rollout_rs, rejectThreshold: keys.rollout_rs_threshold, inverseK1: true },
      threshold: keys.rollout_is_threshold,
      normalize: keys.rollout_is_batch_normalize,
    } satisfies RolloutCorrection,
    [],
  )!;
  const logRatio = (v.log_prob as Matrix).map((row, r) =>
    row.map((p, t) => p - v.old_log_prob[r][t]),
  );
  const whole = { logRatio, mask: v.response_mask as Matrix };
  const kept = correction.rejection ? rejectionMask(whole, correction.rejection).mask : whole.mask;
  const [oldLogprobs, all] = [matrix(v.old_log_prob), matrix(v.response_mask)];
  const mask = matrix(kept.map((row) => Array.from(row)));
  const options: ActorLossOptions = {
    ...{ loss: loss_type === "reinforce" ? "gpg" : "vanilla", aggregation: v.loss_agg_mode },
    ...{ aggregationRule: "verl-0.9.1", clipRatioLow: 0.2, clipRatioHigh: 0.28, clipRatioC: 3 },
  };
  const input = (logprobs: Tensor) => {
    const rolloutWeights = bypassWeights(logprobs, oldLogprobs, all, correction);
    const given = { logprobs, oldLogprobs, advantages: matrix(v.advantages), mask };
    return { ...given, ...defined({ rolloutWeights }) };
  };
  const { loss, gradient } = lossAt(v.log_prob, input, options);
  return { loss, grad_log_prob: gradient };
}

/** prime-rl's figures of each row: what a token rule makes of its tokens. */
function primeFigures(v: any, gap: boolean) {
  const figures: Record<string, number[]> = {};
  const add = (name: string, value: number) => (figures[name] ??= []).push(value);
  (v.loss_mask as Matrix).forEach((mask, r) => {
    const own = mask.flatMap((m, t) => (m ? [t] : []));
    const mean = (of: number[], at: (t: number) => number) =>
      of.reduce((sum, t) => sum + at(t), 0) / Math.max(1, of.length);
    const rule = v.loss === "ipo" ? primeIpo : primeRl;
    const seen = (t: number) => {
      const [logprob, oldLogprob] = [v.trainer_log_prob[r][t], v.inference_log_prob[r][t]];
      const logRatio = logprob - oldLogprob;
      const kept = gap
        ? pulledBySampler(matrix([[logprob]]), matrix([[0]]), matrix([[oldLogprob]])).kept
        : undefined;
      const token = { logprob, oldLogprob, logRatio, ratio: Math.exp(logRatio) };
      const { region } = rule.token({ ...token, advantage: v.advantages[r][t] }, {}, {
        samplerPull: 0,
      } as never);
      return kept ? (number(kept) === 1 ? "inside" : "below") : region;
    };
    const mismatch = (t: number) => {
      const log = v.trainer_log_prob[r][t] - v.inference_log_prob[r][t];
      return Math.exp(log) - log - 1;
    };
    const out = own.filter((t) => seen(t) !== "inside");
    const name = (figure: string) => (gap ? `ref_kl/${figure}` : figure);
    add(name("masked_mismatch_kl"), mean(out, mismatch));
    const left = own.filter((t) => !out.includes(t));
    add(name("unmasked_mismatch_kl"), mean(left, mismatch));
    add(name("is_masked"), out.length / Math.max(1, own.length));
    if (gap)
      add(
        "ref_kl",
        mean(own, (t) => v.ref_log_prob[r][t] - v.trainer_log_prob[r][t]),
      );
    else if (v.loss !== "ipo") {
      const share = (of: string) =>
        out.filter((t) => seen(t) === of).length / Math.max(1, own.length);
      add("is_masked_low", share("below"));
      add("is_masked_high", share("above"));
      const rising = mean(out, (t) => Number(v.advantages[r][t] > 0));
      add("masked_advantage_positive", rising);
      add("masked_advantage_negative", out.length === 0 ? 0 : 1 - rising);
    }
  });
  return figures;
}

function primeLoss(v: any) {
  const mask = matrix(padded(v.loss_mask));
  const sampled = matrix(padded(v.inference_log_prob));
  const rows = (gradient: Matrix) =>
    (v.trainer_log_prob as Matrix).map((row, r) => gradient[r]!.slice(0, row.length));
  if (v.ref_kl_weights) {
    const { value, grad } = tf.valueAndGrad((x: Tensor) =>
      aggregateLoss(
        tokenDivergence(
          x,
          matrix(padded(v.ref_log_prob)),
          {
            ...completed(distillationTable, {}, {}),
            distillationKind: "ref_kl",
          },
          sampled,
        ),
        mask,
        "token-mean",
        { rule: "verl-0.9.1" },
      ).asScalar(),
    )(matrix(padded(v.trainer_log_prob)));
    return {
      loss: number(value),
      grad_trainer_log_prob: rows(grad.arraySync() as Matrix),
      metrics: primeFigures(v, true),
    };
  }
  const advantages = padded(v.advantages).map((row) => row.map((a) => a * v.adv_tau));
  const fixed = { oldLogprobs: sampled, advantages: matrix(advantages), mask };
  const { loss, gradient } = lossAt(
    padded(v.trainer_log_prob),
    (logprobs) => ({ ...fixed, logprobs }),
    { loss: v.loss === "ipo" ? "prime_ipo" : "prime_rl", samplerPull: v.kl_tau },
  );
  return { loss, grad_trainer_log_prob: rows(gradient), metrics: primeFigures(v, false) };
}

/** The policy before the step, in plain numbers and as tensors, which must agree. */
function proximal(v: any) {
  const ages = (v.versions as number[]).map((of) => (of < 0 ? -1 : v.current_version - of));
  const [sampled, now] = [v.behaviour_log_prob, v.log_prob] as number[][];
  const made = (form: Proximal) => {
    const plain = now!.map((p, t) => proximalLogprob(form, sampled![t]!, p, ages[t]!));
    const tensors = proximalTensor(form, matrix([sampled!]), matrix([now!]), matrix([ages]));
    tensors.dataSync().forEach((p, t) => {
      if (Math.abs(p - plain[t]!) > 1e-5) throw new Error(`${form}: ${p} is not ${plain[t]}`);
    });
    return plain;
  };
  const forms = proximals.filter((form) => form !== "measured");
  return Object.fromEntries(forms.map((form) => [form, made(form)]));
}

const limit = (name: string) => stalenessLimits.get(name)!;

/** What each framework admits, in its own words. */
const admissions: Readonly<Record<string, (v: any) => object>> = {
  areal: ({ max_staleness: bound, version, consumer_batch_size: batch, ...v }) => {
    const at = { version, batch, bound, syncEvery: 1 };
    const drawn = { accepted: v.accepted, running: v.running, mostRunning: v.max_concurrent };
    return {
      capacity: mayDraw(limit("areal"), at, drawn),
      pending_limit: limit("areal").admits!({ ...at, version: 0 }),
    };
  },
  skyrl: ({
    max_staleness_steps: bound,
    current_global_step: step,
    mini_batch_size: batch,
    ...v
  }) => {
    const at = { version: step - 1, batch, bound, syncEvery: 1 };
    return {
      capacity: limit("skyrl").admits!(at),
      free: mayDraw(limit("skyrl"), at, { accepted: v.accepted, running: v.running }),
    };
  },
  verl: ({ ppo_mini_batch_size: mini, require_batches: required, ...v }) => {
    const batch = mini * required;
    const [bound, syncEvery] = [v.staleness_threshold, v.trigger_parameter_sync_step];
    const most = limit("verl-fully-async").admits!({ version: 0, batch, bound, syncEvery });
    return { required_samples: batch, max_required_samples: most };
  },
  prime_rl: ({ training_step: step, policy_start: from, policy_end: to, ...v }) => {
    const { age, inFlight, inQueue } = ageOf(step - 1, { from, to });
    const oldest = oldestVersion(step - 1, v.max_off_policy_steps);
    return {
      ...{ staleness: age, in_flight: inFlight, in_queue: inQueue, min_fresh_version: oldest },
      dropped: from < oldest,
    };
  },
};

export const runners: Runners = {
  decoupled_ppo_loss: decoupledLoss,
  bypass_mode_loss: bypass,
  prime_rl_loss: primeLoss,
  proximal_approximation: proximal,
  staleness_limits: ({ form, ...v }) => admissions[form]!(v),
  off_policy_sequence_mask: (v) => {
    const advantages = onRows(v.advantages, v.mask);
    const kept = unmaskedAdvantages(
      {
        ...{ logprobs: matrix(v.log_prob), oldLogprobs: matrix(v.old_log_prob) },
        // A kept advantage is told from one that is left out.
        ...{ advantages: matrix(advantages), mask: matrix(v.mask) },
      },
      v.threshold,
      tensorOps,
    ).arraySync() as Matrix;
    const keep = kept.map((row, r) => row.map((a, t) => Number(a === advantages[r]![t])));
    const plain = (v.mask as Matrix).map((mask, r) => {
      const row = { logprobs: v.log_prob[r], oldLogprobs: v.old_log_prob[r], mask };
      const own = unmaskedRow({ ...row, advantages: advantages[r]! }, v.threshold);
      return Number(own.advantages[0] === advantages[r]![0]);
    });
    // slime's figure: what is left out of a row over the row's own tokens, added up.
    const clipfrac_slime = keep.reduce((sum, row, r) => {
      const tokens = (v.mask as Matrix)[r]!.reduce((a, b) => a + b, 0);
      return sum + row.filter((k) => k === 0).length / Math.max(1, tokens);
    }, 0);
    return { keep_trl: plain, token_keep_slime: keep, clipfrac_slime };
  },
};
