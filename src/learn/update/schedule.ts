import * as exact from "../../base/exact/index.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  fromTo,
  notNegative,
  oneOf,
  type OptionRules,
  required,
  share,
} from "../../../common/options/check-options.js";

/** How the learning rate moves over a run. */
export interface Schedule {
  style: "constant" | "linear" | "cosine";
  /** Steps over which it rises from 0. */
  warmupSteps?: number;
  /** All steps, warm-up included; not needed for `constant`. */
  totalSteps?: number;
  /** Where a decay ends, as a share of the peak. */
  minRatio?: number;
  /** Cosine half-waves; 0.5 falls once from the peak to the end. */
  cycles?: number;
}

const rules: OptionRules<Schedule> = {
  style: required(oneOf(["constant", "linear", "cosine"])),
  warmupSteps: notNegative,
  totalSteps: fromTo(0, Infinity),
  minRatio: share,
  cycles: notNegative,
};

/** The factor on the peak learning rate at a step (the first is 0). */
export function learningRateFactor(schedule: Schedule, step: number): number {
  checkArguments("find a learning rate", { schedule, step }, { schedule: "object", step: "count" });
  checkOptions("find a learning rate", schedule, rules);
  const { style, warmupSteps = 0, totalSteps = Infinity, minRatio = 0, cycles = 0.5 } = schedule;
  if (step < warmupSteps) return step / warmupSteps;
  if (style === "constant") return 1;
  if (!Number.isFinite(totalSteps)) {
    throw new RangeError(`Cannot schedule: a ${style} schedule must have totalSteps, got none`);
  }
  const progress = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
  const fall =
    style === "linear" ? 1 - progress : (1 + exact.cos(2 * Math.PI * cycles * progress)) / 2;
  return minRatio + (1 - minRatio) * Math.max(0, fall);
}
