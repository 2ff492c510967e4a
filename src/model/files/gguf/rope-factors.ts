import type { ModelConfig, RopeScaling } from "../../config.js";
import { ropeFrequencies } from "../../transformer/rope.js";

/** The name of the tensor a GGUF file keeps Llama 3.1's scaling in: what each frequency is divided by. */
export const ropeFactorsName = "rope_freqs.weight";

/** What each of a head's frequencies is divided by. */
export function ropeFactors(config: ModelConfig): Float32Array {
  const scaled = ropeFrequencies(config);
  const unscaled = ropeFrequencies({ ...config, ropeScaling: undefined });
  return unscaled.map((frequency, i) => frequency / scaled[i]!);
}

const close = (a: Float32Array, b: Float32Array) =>
  a.length === b.length && a.every((value, i) => Math.abs(value / b[i]! - 1) < 1e-5);

/**
 * The scaling that gives these factors: Llama 3.1's and 3.2's settings, whatever the factor; undefined
 * where it would take other ones, which the factors alone do not tell.
 */
export function scalingOf(factors: Float32Array, config: ModelConfig): RopeScaling | undefined {
  const scaling: RopeScaling = {
    factor: Math.max(...factors),
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContext: 8192,
  };
  if (!(scaling.factor >= 1)) return undefined;
  return close(ropeFactors({ ...config, ropeScaling: scaling }), factors) ? scaling : undefined;
}
