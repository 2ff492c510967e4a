import type { Tensor } from "../base/aggregate.js";
import { clamp } from "../base/token-rule.js";

/** How the policy before the step is known: measured, or made of the sampler's and of the one that is trained. */
export const proximals = ["measured", "loglinear", "linear", "rollout"] as const;
export type Proximal = (typeof proximals)[number];

/** As AReaL: what keeps a logarithm finite. */
const least = 1e-10;

/**
 * How far the policy before the step is on the way from the sampler's to the one that is trained, given how many updates
 * the sampler's is older than it: all updates but the last of so many. Nothing of it where nobody counted.
 */
export const shareOfWay = (age: number): number => (age > 0 ? clamp((age - 1) / age, 0, 1) : 0);

/** ln p of a token under the policy before the step, in plain numbers. */
export function proximalLogprob(form: Proximal, sampled: number, now: number, age: number): number {
  const share = form === "rollout" ? 0 : shareOfWay(age);
  if (form !== "linear") return sampled + share * (now - sampled);
  const [from, to] = [Math.exp(sampled), Math.exp(now)];
  return Math.log(from + share * (to - from) + least);
}

/** The same of a batch; nothing in it has a gradient. */
export function proximalTensor(form: Proximal, sampled: Tensor, now: Tensor, ages: Tensor): Tensor {
  if (form === "rollout") return sampled;
  const share: Tensor = ages.sub(1).div<Tensor>(ages.maximum(1)).clipByValue(0, 1);
  if (form !== "linear") return now.sub<Tensor>(sampled).mul<Tensor>(share).add(sampled);
  const [from, to] = [sampled.exp<Tensor>(), now.exp<Tensor>()];
  return to.sub<Tensor>(from).mul<Tensor>(share).add<Tensor>(from).add<Tensor>(least).log();
}
