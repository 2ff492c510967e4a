import { toBase64 } from "#platform/bytes";
import { optionsFor } from "../../../../common/options/check-options.js";
import {
  type BatchSequence,
  sampledLogprobs,
  saidLogprobs,
  trainedMask,
  type TrainingBatch,
  usedAdvantages,
} from "../../../learn/batch.js";
import { missingOf } from "../../../learn/losses/base/definition.js";
import { clipBounds } from "../../../learn/losses/base/options.js";
import { type ActorLossOptions, lossRules } from "../../../learn/losses/loss-rules.js";
import { lossOf, lossRegistry } from "../../../learn/losses/registry.js";
import type { RolloutCorrection } from "../../../learn/correction/rollout-correction.js";
import type { Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import { packVocabulary } from "../../page/pack.js";
import { many, numberText } from "../../page/words.js";
import type { TunerPayload, TunerSettings } from "./payload.js";

/** A sequence with the log-probabilities that it is looked at with. */
interface Placed {
  sequence: BatchSequence;
  now: ArrayLike<number>;
  old: ArrayLike<number>;
  sampled: ArrayLike<number>;
}

/** What the sliders begin with: what an update was made with. */
export interface MadeWith {
  options: ActorLossOptions;
  correction: RolloutCorrection | boolean | undefined;
}

const floats = (values: Iterable<number>): string => toBase64(Float32Array.from(values));

/** Where the sliders begin. */
function firstSettings({ options, correction }: MadeWith, wasWeighed: boolean): TunerSettings {
  const { low, high, c } = clipBounds(options);
  const said = typeof correction === "object" ? correction : {};
  const isTrl = said.form === "trl";
  const weights = said.weights === undefined ? (isTrl ? "sequence" : "token") : said.weights;
  return {
    loss: lossOf(options).name,
    ...{ low: 1 - low, high: high - 1, c },
    weights: wasWeighed ? (weights ?? "none") : "none",
    cap: typeof said.threshold === "number" ? said.threshold : isTrl ? 3 : 2,
    drop: said.outside === "drop" || (isTrl && said.outside === undefined),
    offPolicyMask: options.offPolicyMask ?? null,
    ...{ reject: "none", rejectAt: 2, whole: false },
  };
}

/** As many whole trajectories as there is room for, evenly chosen, and what is left out. */
function within(all: readonly BatchSequence[], most: number): readonly BatchSequence[] {
  const total = all.reduce((sum, { trajectory }) => sum + trajectory.tokens.length, 0);
  if (total <= most) return all;
  const every = total / Math.max(1, most);
  const chosen = all.filter((_, i) => Math.floor((i + 1) / every) > Math.floor(i / every));
  return chosen.length > 0 ? chosen : all.slice(0, 1);
}

/** A batch as a tuner's page reads it; `current` are log-probabilities of another policy than the one before. */
export function tunerPayload(
  batch: TrainingBatch,
  made: MadeWith,
  {
    current,
    tokenizer = batch.scored?.trees[0]?.tokenizer,
    mostTokens,
  }: {
    current?: readonly ArrayLike<number>[] | undefined;
    tokenizer?: Tokenizer | undefined;
    mostTokens: number;
  },
): TunerPayload {
  const chosen = within(batch.trajectories, mostTokens);
  const placed = chosen.map((sequence): Placed => {
    // What another policy says is over the whole vocabulary: so is what it is compared with.
    const whole = current ? { oldOver: "whole" as const } : {};
    const own = { ...sequence, ...whole };
    const old = (current ? undefined : sequence.oldLogprobs) ?? saidLogprobs(own);
    const now = current?.[batch.trajectories.indexOf(sequence)] ?? sequence.newLogprobs ?? old;
    return { sequence, now, old, sampled: sampledLogprobs({ ...own, oldLogprobs: old }) };
  });
  let [total, unknown] = [0, 0];
  const rows = chosen.map(({ trajectory, group, reward }) => {
    const start = total;
    total += trajectory.tokens.length;
    const scored = Number.isNaN(reward) ? "" : `, score ${numberText(reward, 3)}`;
    const label = `task ${group}, trajectory ${trajectory.id}${scored}`;
    return { label, start, length: trajectory.tokens.length };
  });
  const gather = (read: (one: Placed, t: number) => number) =>
    placed.flatMap((one) => Array.from(one.sequence.trajectory.tokens, (_, t) => read(one, t)));
  const mask = gather(({ sequence, now, old }, t) => {
    if (!trainedMask(sequence)[t]) return 0;
    if (Number.isFinite(now[t]) && Number.isFinite(old[t])) return 1;
    unknown++;
    return 0;
  });
  const hasSupport = chosen.some(({ trajectory }) => trajectory.support !== undefined);
  const { vocabulary, place } = packVocabulary(tokenizer);
  const { own, losses } = lossesOf(made.options);
  const wasWeighed = batch.trajectories.some(({ rolloutWeights }) => rolloutWeights !== undefined);
  const left = [
    ...(chosen.length < batch.trajectories.length
      ? [
          `${chosen.length} of ${batch.trajectories.length} trajectories are shown, evenly chosen: tokens ${mostTokens}.`,
        ]
      : []),
    ...(unknown > 0 ? [`${many(unknown, "token")} without log-probabilities take no part.`] : []),
  ];
  return {
    title: "Which tokens lose their gradient?",
    ...{ vocabulary, rows, losses, own, left, first: firstSettings(made, wasWeighed) },
    tokens: toBase64(
      Int32Array.from(gather(({ sequence }, t) => place(sequence.trajectory.tokens[t]!))),
    ),
    mask: toBase64(Uint8Array.from(mask)),
    logprobs: floats(gather(({ now }, t) => now[t]!)),
    oldLogprobs: floats(gather(({ old }, t) => old[t]!)),
    sampledLogprobs: floats(gather(({ sampled }, t) => sampled[t]!)),
    advantages: floats(gather(({ sequence }, t) => usedAdvantages(sequence)[t]!)),
    entropies: floats(
      gather(({ sequence }, t) => (sequence.entropies ?? sequence.trajectory.entropies)[t]!),
    ),
    ...(hasSupport
      ? {
          keptMass: floats(
            gather(({ sequence }, t) => {
              const kept = sequence.trajectory.logprobs[t]! - saidLogprobs(sequence)[t]!;
              return Number.isFinite(kept) ? kept : 0;
            }),
          ),
        }
      : {}),
  };
}

/** The update's own loss settings, and the losses that a page can choose. */
function lossesOf(options: ActorLossOptions): Pick<TunerPayload, "own" | "losses"> {
  const said = optionsFor<ActorLossOptions>(lossRules(options), options);
  const mine = lossOf(options);
  const own = { ...said, loss: mine.name } as ActorLossOptions;
  const usable = lossRegistry.built.filter(
    (loss) => loss === mine || missingOf(loss, {}).length === 0,
  );
  const losses = usable.map(({ name, title, clips, readsC }) => ({
    ...{ name, title, clips: clips !== undefined, readsC: readsC === true },
  }));
  return { own, losses };
}
