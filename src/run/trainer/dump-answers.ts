import { mkdir } from "#platform/files";
import { join } from "#platform/path";
import { defined } from "../../arguments/defined.js";
import type { Scored } from "../../reward/scored.js";
import { writeWhole } from "../folder/run-folder.js";

/**
 * Writes a step's answers as the reference does where `rollout_data_dir` or `validation_data_dir` is
 * set: one JSONL file per step with input, output, score, step and what the reward said besides.
 */
export async function dumpAnswers(folder: string, step: number, scored: Scored): Promise<void> {
  const prompts = scored.trees.flatMap(({ selected: trajectories, prompt }) =>
    trajectories.map(() => prompt.text),
  );
  const lines = scored.rows.map(({ trajectory, score }, i) =>
    JSON.stringify({
      input: prompts[i],
      output: trajectory.text,
      score: score.score,
      step,
      reason: score.reason,
      ...defined({ answer: score.answer }),
      ...score.parts,
    }),
  );
  await mkdir(folder, { recursive: true });
  await writeWhole(join(folder, `${step}.jsonl`), lines.map((line) => `${line}\n`).join(""));
}
