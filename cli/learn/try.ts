import { question } from "../../src/data/index.js";
import { rollout } from "../../src/rollout/index.js";
import { score } from "../../src/reward/index.js";
import { rolloutOptions } from "../../src/run/index.js";
import { type ConfigOptions, assemble, interruptible, readConfig } from "./assemble.js";

/** `arpo-lab try`: shows what a checkpoint answers, and whether it calls its tools. */
export async function tryCheckpoint(
  overrides: string[],
  options: ConfigOptions & { tasks: number },
): Promise<void> {
  const config = await readConfig(overrides, options);
  const { policy, tools, reward, validation } = await assemble(config);
  try {
    const trees = await rollout(policy, validation.slice(0, options.tasks), {
      ...rolloutOptions(config),
      n: 1,
      initialRollouts: 1,
      tools,
      seed: config.lab.seed,
      signal: interruptible(),
    });
    const { rows, mean } = await score(trees, reward);
    rows.forEach(({ trajectory, score: found }, i) => {
      console.log(`\n${question(trees[i]!.task)}\n${trajectory.text}`);
      console.log(`  score ${found.score.toFixed(2)}: ${found.reason}`);
    });
    const calls = rows.flatMap(({ trajectory }) => trajectory.toolCalls);
    const failed = calls.filter((call) => !call.ok).length;
    const without = rows.filter(({ trajectory }) => trajectory.toolCalls.length === 0).length;
    console.log(
      `\nmean score ${mean.toFixed(3)}; ${calls.length} tool calls, ${failed} failed; ${without} of ${rows.length} answers without a call`,
    );
    if (without === rows.length) {
      console.log("No answer called a tool: the checkpoint may need supervised fine-tuning first.");
    }
  } finally {
    await tools.dispose();
  }
}
