import { openTinker } from "./tinker/engine.js";

/**
 * Engines elsewhere that train and sample for the lab.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { engine } from "arpo-lab/experimental/scale";
 *
 * // const far = await engine.tinker("https://…", { tokenizer: "Qwen/Qwen3-8B", lora: { rank: 32 } });
 * // const run = await trainOn(far, tasks.calc(), { steps: 20 });
 * const nobody = engine.tinker("http://127.0.0.1:9", { tokenizer: "data/models/tiny", attempts: 1 });
 * await assert.rejects(nobody, /Cannot open a Tinker session: .*ECONNREFUSED/);
 * ```
 */
export const engine = {
  /**
   * A model at a Tinker server (Thinking Machines' service, SkyRL's, verl's recipe): a policy that
   * samples there and that `update` and `trainOn` train there. The key comes from the environment
   * (`TINKER_API_KEY`).
   */
  tinker: openTinker,
};
