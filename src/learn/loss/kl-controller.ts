import { checkArguments } from "../../arguments/check-arguments.js";

/** How the KL coefficient moves during training. */
export type KlControl =
  | { type: "fixed"; coefficient: number }
  | { type: "adaptive"; coefficient: number; target: number; horizon: number };

/** How far one update may move the coefficient, per horizon. */
const largestError = 0.2;

/**
 * The coefficient after one update. A fixed one stays; an adaptive one grows while the measured KL is
 * above its target and shrinks while it is below.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { controlKl } from "arpo-lab/experimental/learn";
 *
 * const adaptive = { type: "adaptive", coefficient: 0.1, target: 0.1, horizon: 100 } as const;
 * assert.ok(controlKl(adaptive, { kl: 1, steps: 10 }).coefficient > 0.1);
 * ```
 */
export function controlKl<T extends KlControl>(control: T, seen: { kl: number; steps: number }): T {
  checkArguments(
    "control KL",
    { control, seen },
    { control: { type: "text" }, seen: { kl: "number", steps: "number" } },
  );
  const { kl, steps } = seen;
  if (control.type === "fixed") return control;
  const { target, horizon, coefficient } = control;
  if (!(horizon > 0)) {
    throw new RangeError(`Cannot control KL: the horizon must be positive, got ${horizon}`);
  }
  const error = Math.min(largestError, Math.max(-largestError, kl / target - 1));
  return { ...control, coefficient: coefficient * (1 + (error * steps) / horizon) };
}
