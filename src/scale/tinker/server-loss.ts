import { clipBounds } from "../../learn/loss/options.js";
import type { UpdateOptions } from "../../learn/update/update-settings.js";
import type { TinkerLoss } from "./client/tinker-run.js";

/** A loss that a server computes itself exactly as the lab does, and where its gradient is linear. */
export type ServerLoss = TinkerLoss;

/**
 * The server's own loss where it is exactly the lab's, token for token: `gpg` is the service's
 * importance sampling without its ratio (a cross-entropy, so it has no need of one), `cispo` is `cispo`,
 * and `vanilla` is `ppo` where nothing is dual-clipped (`clipRatioC: Infinity`) and no switch of AEPO is
 * on. With a KL loss, and for everything else, the exact gradient is sent instead.
 */
export function serverLossOf(options: UpdateOptions): ServerLoss | undefined {
  if (options.klLossCoefficient !== undefined || options.entropyBalancedAdvantage) return undefined;
  const { low, high, c } = clipBounds(options);
  const config = { clip_low_threshold: low, clip_high_threshold: high };
  if (options.loss === "cispo") return { name: "cispo", config };
  if (options.loss === "vanilla" && c === Infinity && !options.entropyBalancedClipping) {
    return { name: "ppo", config };
  }
  return undefined;
}
