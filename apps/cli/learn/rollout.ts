import { rollout } from "../../../src/rollout/rollout.js";
import { saveTrees } from "../../../src/rollout/files/tree-files.js";
import { UnfinishedRollout } from "../../../src/rollout/unfinished-rollout.js";
import { score } from "../../../src/reward/score-trees.js";
import type { Config } from "../../../src/run/config/schema.js";
import { rolloutOptions } from "../../../src/run/trainer/options.js";
import { guarded } from "../terminal/guarded.js";
import { stoppable } from "../terminal/stopping.js";
import { assemble, readConfig } from "./assemble.js";
import { type ConfigOptions, experimentOf } from "./experiment.js";
import { say } from "../terminal/say.js";

/** `arpo-lab rollout`. */
export async function rolloutFromConfig(
  overrides: string[],
  options: ConfigOptions & { tasks: number; out: string },
): Promise<void> {
  const config = await readConfig(experimentOf(options, overrides));
  const patienceMs = config.lab.stuck_after * 1000;
  await guarded({ afterwards: "nothing was written", patienceMs }, () => rollOut(config, options));
}

async function rollOut(config: Config, options: { tasks: number; out: string }): Promise<void> {
  const { policy, tools, environment, reward, train } = await assemble(config);
  try {
    const trees = await rollout(policy, train.slice(0, options.tasks), {
      ...rolloutOptions(config),
      tools,
      environment,
      seed: config.lab.seed,
      signal: stoppable("early"),
    }).catch(async (error: unknown) => {
      if (error instanceof UnfinishedRollout) await saveTrees(options.out, error.trees);
      throw error;
    });
    await saveTrees(options.out, trees);
    const { mean, trajectories: rows } = await score(trees, reward);
    say(
      `${trees.length} trees, ${rows.length} trajectories, mean score ${mean.toFixed(3)}: ${options.out}`,
    );
  } finally {
    await tools.dispose();
  }
}
