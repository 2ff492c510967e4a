import { question } from "../../../src/tasks/task.js";
import type { ScoredTrajectory } from "../../../src/reward/scored.js";
import { score } from "../../../src/reward/score-trees.js";
import { entropyStatistics } from "../../../src/measure/entropy/entropy-statistics.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { toolMetrics } from "../../../src/rollout/tree/metrics.js";
import type { Config } from "../../../src/run/config/schema.js";
import { rolloutOptions } from "../../../src/run/trainer/options.js";
import { guarded } from "../terminal/guarded.js";
import { stoppable } from "../terminal/stopping.js";
import { assemble, readConfig } from "./assemble.js";
import { type ConfigOptions, experimentOf } from "./experiment.js";
import { say } from "../terminal/say.js";

const percent = (part: number, whole: number) =>
  `${part} of ${whole} (${Math.round((100 * part) / whole)}%)`;

/** What the answers have in common, and what that means for training. */
function summarise(rows: readonly ScoredTrajectory[], tags: readonly string[]): void {
  const count = (test: (row: ScoredTrajectory) => boolean) => rows.filter(test).length;
  const line = (name: string, text: string) => say(`  ${name.padEnd(24)} ${text}`);
  const right = count(({ score: found }) => found.score > 0);
  const format = count(({ score: found }) => found.score >= 0);
  const silent = count(({ trajectory }) => trajectory.toolCalls.length === 0);
  const cut = count(({ trajectory }) => ["length", "context"].includes(trajectory.end));
  line("earned a reward", percent(right, rows.length));
  line("kept the format", percent(format, rows.length));
  line("called a tool", percent(rows.length - silent, rows.length));
  line("ended by themselves", percent(rows.length - cut, rows.length));
  const calls = rows.flatMap(({ trajectory }) => trajectory.toolCalls);
  for (const tag of tags) {
    const own = calls.filter((call) => call.tag === tag);
    const wrong = own.filter(({ text }) => /error|exception|traceback/i.test(text)).length;
    const failed = own.filter(({ ok }) => !ok).length;
    line(
      `calls of ${tag}`,
      `${own.length}${failed > 0 ? `, ${failed} failed` : ""}${wrong > 0 ? `, ${wrong} answered with an error` : ""}`,
    );
  }
  if (silent === rows.length && tags.length > 0) {
    say("No answer called a tool: the checkpoint may need supervised fine-tuning first.");
  } else if (right === 0) {
    say("No answer earned a reward: reinforcement learning would have nothing to go by.");
  } else if (right === rows.length && rows.length > 3) {
    say("Every answer earned a reward: harder tasks would teach more.");
  }
}

/** `arpo-lab sample`: shows what a checkpoint answers, and whether it calls its tools. */
export async function sampleCheckpoint(
  overrides: string[],
  options: ConfigOptions & { tasks: number; model?: string; greedy?: boolean },
): Promise<void> {
  const model =
    options.model === undefined ? [] : [`actor_rollout_ref.model.path=${options.model}`];
  const config = await readConfig(experimentOf(options, [...overrides, ...model]));
  const patienceMs = config.lab.stuck_after * 1000;
  await guarded({ afterwards: "nothing was written", patienceMs }, () => show(config, options));
}

/** Rolls out and prints. */
async function show(config: Config, options: { tasks: number; greedy?: boolean }): Promise<void> {
  const { policy, tools, environment, reward, validation } = await assemble(config);
  try {
    const trees = await rollout(policy, validation.slice(0, options.tasks), {
      ...rolloutOptions(config),
      n: 1,
      initialRollouts: 1,
      tools,
      environment,
      seed: config.lab.seed,
      signal: stoppable("early"),
      ...(options.greedy ? { mode: "validate" as const, validation: { temperature: 0 } } : {}),
    });
    const { trajectories: rows, mean } = await score(trees, reward);
    rows.forEach(({ trajectory, score: found }, i) => {
      const { task } = trees[i]!;
      const wanted = [task.groundTruth ?? "nothing in particular"].flat().join(" or ");
      say(`\n--- ${task.id}: ${question(task)}\n${trajectory.text}`);
      say(
        `  score ${found.score.toFixed(2)}: ${found.reason}; wanted ${wanted}; ended by ${trajectory.end} after ${trajectory.tokens.length} tokens`,
      );
    });
    const how = options.greedy
      ? "greedy"
      : `temperature ${config.actor_rollout_ref.rollout.temperature}`;
    const time = toolMetrics(trees)["tools/max_execution_time"] ?? 0;
    say(
      `\n${rows.length} answers of ${policy.name}, ${how}: mean score ${mean.toFixed(3)}, longest tool call ${time.toFixed(2)} s`,
    );
    summarise(rows, [...tools.tags, ...(trees[0]?.environment?.tools ?? [])]);
    say(entropyStatistics(trees).text);
  } finally {
    await tools.dispose();
    policy.model.dispose();
  }
}
