// One run of `arpo-lab train` in this process: the sandboxes of Python, which take longest to start, serve
// all runs with the same tools.
import { rmSync } from "node:fs";

const { assemble } = await import("../../../../dist/src/run/trainer/assemble.js");
const { loadConfig } = await import("../../../../dist/src/run/config/load.js");
const { train } = await import("../../../../dist/src/run/trainer/train.js");

const started = new Map();

/** Trains from the start into a folder; what it failed with, where it does. */
export async function trainPair({ preset, overrides }, common, folder) {
  rmSync(folder, { recursive: true, force: true });
  let parts;
  try {
    const { config } = await loadConfig({
      preset: [preset, "tiny"],
      overrides: [...common, ...overrides],
    });
    parts = await assemble(config);
    const key = JSON.stringify(config.actor_rollout_ref.rollout.tools);
    if (started.has(key)) await parts.tools.dispose();
    else started.set(key, parts.tools);
    const trainer = await train({ ...parts, tools: started.get(key) }, { folder });
    trainer.dispose?.();
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    parts?.policy.model.dispose();
    parts?.reference?.dispose();
  }
}

/** Ends the sandboxes. */
export const endTools = () => Promise.all([...started.values()].map((tools) => tools.dispose()));
