import { join } from "#platform/path";
import { defined } from "../../../common/options/defined.js";
import { makeFolder, writeDurably, writeFault } from "../../../common/files/durable.js";
import type { Sample } from "../infer/sample.js";
import type { Evaluation } from "./evaluation.js";
import type { ScoredSample } from "./score-samples.js";

/** Writes a whole file; a failure is explained. */
export async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (error) {
    throw writeFault(error, `write ${path}`);
  }
}

const pretty = (value: unknown) => `${JSON.stringify(value, undefined, 4)}\n`;

/** A sample as the reference's files have it, and how it ended. */
function outputItem(sample: Sample) {
  const { instruction, input, output, prediction, answer, logs, timing } = sample;
  const { search_query_history, status, error } = sample;
  return {
    ...{ instruction, input, output, prediction, answer, logs, search_query_history, timing },
    ...{ status, ...defined({ error }) },
  };
}

const metricsItem = (sample: ScoredSample) => ({
  ...outputItem(sample),
  metrics: sample.metrics,
  ...defined({ judge_error: sample.judge_error }),
});

/**
 * Writes `NAME/NAME_output_TURN.json` with its `_metrics` and `_metrics_overall`, by the reference's
 * names and keys. Unlike the reference's, the overall figures carry no date: the same evaluation gives
 * the same bytes. Samples that could not be made are in the files and not in the figures.
 */
export async function writeResultFiles(
  evaluation: Evaluation,
  folder: string,
  { outputs = true }: { outputs?: boolean } = {},
): Promise<string[]> {
  const written: string[] = [];
  const write = async (path: string, value: unknown) => {
    await writeWhole(path, pretty(value));
    written.push(path);
  };
  for (const { name, turns } of evaluation.benchmarks) {
    await makeFolder(join(folder, name));
    for (const [i, overall] of turns.entries()) {
      const samples = evaluation.samples
        .filter((sample) => sample.benchmark === name && sample.turn === i + 1)
        .sort((a, b) => a.index - b.index);
      const base = join(folder, name, `${name}_output_${i + 1}`);
      if (outputs) await write(`${base}.json`, samples.map(outputItem));
      await write(`${base}_metrics.json`, samples.map(metricsItem));
      await write(`${base}_metrics_overall.json`, overall);
    }
  }
  return written;
}
