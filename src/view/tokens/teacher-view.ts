import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { type BatchSequence, TrainingBatch } from "../../learn/batch.js";
import { askTeacher, type Reference, type Teacher } from "../../learn/distillation/teacher.js";
import type { Model } from "../../model/transformer/transformer.js";
import { measureDistributions } from "../../learn/update/trainee.js";
import { updateSettings } from "../../learn/update/update-settings.js";
import type { ModelPolicy } from "../../policy/policy-from-model.js";
import { packIntegers, packVocabulary } from "../page/pack.js";
import { numberText } from "../page/words.js";
import { integersOf } from "../page/unpack.js";
import { type TokenPanel, tokenPayload } from "./payload.js";
import { TokenView, type TokenViewOptions, tokenViewRules } from "./token-view.js";

const settings = updateSettings({ sharedPrefixes: true });

/** The most likely token at each place, of whole distributions. */
function firstChoices(whole: Float32Array, { tokens, lossMask }: BatchSequence["trajectory"]) {
  const words = whole.length / tokens.length;
  return Array.from(tokens, (written, t) => {
    if (!lossMask[t]) return written;
    const own = whole.subarray(t * words, (t + 1) * words);
    return own.indexOf(own.reduce((most, p) => Math.max(most, p), -Infinity));
  });
}

/**
 * What a policy wrote, beside what a teacher would have written at each of its tokens, on the colour of the gap: ln p of the
 * token under the teacher less that under the policy. Trajectories on which the two are farthest apart come first; one that the teacher
 * has nothing to say of is left out.
 *
 * @param policy the policy that wrote the batch
 * @param batch the batch, from `advantages`
 * @param teacher the teacher, as `update` takes it: its words are shown where it is a model in this process
 * @example
 * ```ts
 * import { advantages, Policy, rollout, score, tasks, taskTools, world } from "arpo-lab";
 * import { teacherView } from "arpo-lab/view";
 *
 * const policy = await Policy.load("data/models/tiny");
 * const teacher = await Policy.load("data/models/tiny"); // a better one, or rightSibling()
 * const task = tasks.lookup({ seed: 3 }).train[0]!;
 * const tree = await rollout(policy, task, { tools: taskTools(world), n: 2 });
 * await teacherView(policy, advantages(await score(tree)), teacher);
 * ```
 */
export async function teacherView(
  policy: Pick<ModelPolicy, "model">,
  batch: TrainingBatch,
  teacher: Teacher,
  options: TokenViewOptions = {},
): Promise<TokenView> {
  checkArguments(
    "show a teacher",
    { policy, batch, teacher },
    { policy: { model: "model" }, batch: { trajectories: "list" }, teacher: "object" },
  );
  checkOptions("show a teacher", options, tokenViewRules);
  // The batch stays as it is: what is measured is written on copies.
  const copies = batch.trajectories.map((one) => ({ ...one }));
  const measure = async (
    sequences: readonly Pick<BatchSequence, "trajectory">[],
    who?: Reference,
  ) => {
    if (!who) return measureDistributions(policy.model, sequences, settings);
    if ("weights" in who) return measureDistributions(who, sequences, settings);
    if ("model" in who) return measureDistributions(who.model as Model, sequences, settings);
    const asked = sequences.map(({ trajectory: { prompt, tokens } }) => ({ prompt, tokens }));
    const said = await who.logProbs(asked);
    return { logprobs: said.map(({ logprobs }) => logprobs) };
  };
  const own = await measureDistributions(policy.model, copies, settings);
  copies.forEach((one, i) => {
    one.oldLogprobs = own.logprobs[i]!;
    one.entropies = own.entropies[i]!;
  });
  await askTeacher(copies as Parameters<typeof askTeacher>[0], teacher, measure, batch.scored);
  const sums = new Map(
    copies.map((one) => {
      const apart = (p: number, t: number) =>
        one.trajectory.lossMask[t] ? Math.abs(p - one.oldLogprobs![t]!) : 0;
      return [one, Array.from(one.teacherLogprobs ?? [], apart).reduce((a, b) => a + b, 0)];
    }),
  );
  const taught = copies
    .filter((one) => one.teacherLogprobs !== undefined)
    .sort((a, b) => sums.get(b)! - sums.get(a)!);
  const shown = new TrainingBatch(taught, batch.estimator, batch.scored);
  const payload = tokenPayload(shown, [], [], options.tokenizer);
  payload.panels[0]!.name = "the policy wrote";
  const written = taught.flatMap(({ trajectory }) => Array.from(trajectory.tokens));
  const chosen = taught.flatMap((one) =>
    one.teacherDistributions
      ? firstChoices(one.teacherDistributions, one.trajectory)
      : Array.from(one.trajectory.tokens),
  );
  const differs = written.flatMap((token, t) => (token === chosen[t] ? [] : [t]));
  const places = shown.tokens;
  if (taught.some((one) => one.teacherDistributions)) {
    const { vocabulary, place } = packVocabulary(
      options.tokenizer ?? batch.scored?.trees[0]?.tokenizer,
    );
    written.forEach(place);
    const words = chosen.map(place);
    payload.vocabulary = vocabulary;
    payload.wide ||= words.some((at) => at > 65535);
    payload.tokens = packIntegers(written.map(place), payload.wide);
    // What it would have written as well stays grey.
    const [first] = payload.panels as [TokenPanel];
    const framed = new Set(differs);
    const alike = payload.regions.length - 1;
    const region = Array.from(integersOf(first.region, false), (own, t) =>
      framed.has(t) ? own : alike,
    );
    payload.panels.push({
      ...first,
      name: "the teacher's first choice, where it is another",
      tokens: packIntegers(words, payload.wide),
      region: packIntegers(region, false),
    });
    payload.differs = differs;
  }
  const whole = [...sums.values()].reduce((a, b) => a + b, 0);
  payload.summary = [
    `A teacher for ${taught.length} of ${copies.length} trajectories: another first choice at ${differs.length} of ${places} tokens, ${numberText(whole / Math.max(1, taught.length), 3)} nats apart per trajectory.`,
  ];
  return new TokenView(payload);
}
