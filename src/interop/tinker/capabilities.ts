import type { Passed } from "./client/answers.js";

/** In what a server differs from others where the API does not say. */
export interface TinkerCapabilities {
  /**
   * What a gradient is of. `sum`: the sum of all token losses, as Thinking Machines' service. `mean`: the
   * mean over sequences of each sequence's mean under its weights, as SkyRL's JAX backend.
   */
  reduction: "sum" | "mean";
  /** It follows `grad_clip_norm`. */
  clips: boolean;
}

/**
 * What a server is, by what it answers to a forward pass: SkyRL's JAX backend alone tells the loss of
 * every token there and has no figures of the batch.
 */
export function capabilitiesOf(answer: Passed, url: string): TinkerCapabilities {
  const figures = Object.keys(answer.metrics ?? {}).length;
  const [first] = answer.loss_fn_outputs;
  const jax =
    answer.loss_fn_output_type === "scalar" && figures === 0 && "elementwise_loss" in (first ?? {});
  const service = new URL(url).hostname.endsWith(".thinkingmachines.dev");
  return { reduction: jax ? "mean" : "sum", clips: service };
}
