import { mkdir } from "#platform/files";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../../files/read-if-there.js";
import type { JobState } from "./job-record.js";

interface Step {
  step: number;
  metrics: Record<string, number>;
}

/** Writes steps into a run folder's metrics, each once, in their order. */
export async function followInto(
  folder: string,
  steps: AsyncGenerator<Step, JobState>,
): Promise<JobState> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "metrics.jsonl");
  let last = lastStep((await readIfThere(file)) ?? "");
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
    if (value.step <= last) continue;
    last = value.step;
    await appendFile(file, `${JSON.stringify({ step: value.step, ...value.metrics })}\n`);
  }
}

function lastStep(text: string): number {
  const last = text.trimEnd().split("\n").at(-1);
  return last ? Number((JSON.parse(last) as { step: number }).step) : -1;
}
