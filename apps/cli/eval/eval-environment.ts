import { withEnds } from "../../../src/base/text/interval-text.js";
import { mkdir } from "#platform/files";
import { join, resolve } from "node:path";
import { evaluateEnvironment } from "../../../src/eval/environment/evaluate-environment.js";
import { writeWhole } from "../../../src/eval/report/result-files.js";
import { modelFolder } from "../../../src/model/files/model-folder.js";
import { Policy } from "../../../src/policy/policies.js";
import { environmentOf } from "../../../src/run/trainer/environment-of.js";
import { loadConfig } from "../../../src/run/config/load.js";
import { tasksOf } from "../../../src/run/trainer/tasks-of.js";
import { aside, say } from "../terminal/say.js";
import { ProgressLine } from "../../../src/base/show/progress-line.js";
import { liveLines, progressLine } from "../terminal/live-lines.js";
import { stoppable } from "../terminal/stopping.js";
import type { EvalCommandOptions } from "./eval-model.js";

const percent = (share: number) => `${Math.round(100 * share)}%`;

/** `arpo-lab eval MODEL --environment maze?size=4`: acts in an environment on its held-out tasks. */
export async function evalInEnvironment(model: string, options: EvalCommandOptions): Promise<void> {
  if (options.endpoint !== undefined) {
    throw new RangeError(
      "Cannot evaluate in an environment: there must be a model, got --endpoint",
    );
  }
  const source = `tasks:${options.environment}`;
  const { config } = await loadConfig({
    overrides: [`data.train_files=${source}`, `data.val_files=${source}`],
  });
  const environment = await environmentOf(config);
  if (!environment) {
    throw new RangeError(
      `Cannot evaluate in an environment: its tasks must be acted out in one, got ${options.environment}`,
    );
  }
  const test = await tasksOf(source, "test", config);
  const policy = await Policy.load(modelFolder(model));
  const live = process.stderr.isTTY ? liveLines(process.stderr) : undefined;
  const line = new ProgressLine();
  const show = progressLine(live);
  try {
    const { temperature, topP, topK, minP, samples, seed, questions } = options;
    const given = Object.entries({ temperature, topP, topK, minP }).filter(
      ([, v]) => v !== undefined,
    );
    const found = await evaluateEnvironment(
      policy,
      { test, environment },
      {
        ...{ samples, seed, signal: stoppable("early") },
        tasks: questions,
        responseLength: options.maxTokens,
        callLimit: options.limit["calls"],
        onTrajectory: (done, of) => show(() => line.count("acting", done, of)),
        ...(given.length === 0 ? {} : { sampling: Object.fromEntries(given) }),
      },
    );
    live?.set("");
    const folder = resolve(options.out);
    await mkdir(folder, { recursive: true });
    const file = join(folder, `${found.environment}.json`);
    await writeWhole(file, `${JSON.stringify(found, null, 1)}\n`);
    const { low, high } = found.interval ?? {};
    const said = withEnds(found.mean, low ?? NaN, high ?? NaN);
    const interval = low === undefined ? "" : ` (95% ${said.low} to ${said.high})`;
    say(
      `${found.policy} in ${found.environment}: mean score ${said.value}${interval}, ${found.tasks} tasks, ${found.samples} samples each`,
    );
    for (const [grade, mean] of Object.entries(found.byGrade)) {
      say(`  ${grade.padEnd(24)} ${mean.toFixed(3)}`);
    }
    say(
      `  ${found.calls.toFixed(1)} calls a trajectory, ${percent(found.ended)} ended by the environment`,
    );
    aside(`\nreport: ${file}`);
  } finally {
    live?.set("");
    policy.model.dispose();
  }
}
