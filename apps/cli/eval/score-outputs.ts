import { mkdir } from "#platform/files";
import { join, resolve } from "node:path";
import { evaluateOutputs } from "../../../src/eval/evaluate-outputs.js";
import type { TaskType } from "../../../src/eval/metrics/evaluate-item.js";
import { writeWhole } from "../../../src/eval/report/result-files.js";
import { reportPage } from "../../../src/view/evaluation/report-page.js";
import { stoppable } from "../terminal/stopping.js";
import { costOf, judgeOf, type JudgeOptions } from "./judge-option.js";
import { aside, say } from "../terminal/say.js";

export interface ScoreCommandOptions extends JudgeOptions {
  out?: string;
  task?: TaskType;
}

/** `arpo-lab score`: metrics and a report of answers from files; the answers stay as they are. */
export async function scoreOutputs(folder: string, options: ScoreCommandOptions): Promise<void> {
  const out = resolve(options.out ?? folder);
  await mkdir(out, { recursive: true });
  const judge = judgeOf(options, out);
  try {
    const evaluation = await evaluateOutputs(resolve(folder), {
      out,
      signal: stoppable("early"),
      task: options.task,
      judge,
    });
    await writeWhole(join(out, "report.html"), reportPage(evaluation));
    await writeWhole(join(out, "report.txt"), `${String(evaluation)}\n`);
    say(String(evaluation));
    if (judge) aside(costOf(judge));
    aside(`\nreport: ${join(out, "report.html")}`);
  } finally {
    judge?.close();
  }
}
