import type { TrainingRun } from "./train-cells.js";

/** A run on its way to a page. */
export interface LiveDisplay {
  /** A step was done. */
  step: () => void;
  /** There will be no further step. */
  done: () => void;
}

/**
 * How training runs show themselves: as a table, until `arpo-lab/view` is loaded (`arpo-lab` loads it)
 * and puts its board here. Training knows nothing of views.
 */
export const runDisplay: {
  show: (run: TrainingRun) => Record<string, string> | Promise<Record<string, string>>;
  /** Shows a run while it goes on; undefined where nobody looks. */
  watch: (run: TrainingRun) => LiveDisplay | undefined;
} = { show: showRun, watch: () => undefined };

/** A run as a table of its steps. */
export function showRun({ steps, validation }: TrainingRun): Record<string, string> {
  const lines = steps.map(({ step, metrics }) =>
    [
      step,
      metrics["critic/score/mean"]?.toFixed(3),
      metrics["actor/entropy_loss"]?.toFixed(3),
      metrics["actor/pg_clipfrac"]?.toFixed(3),
      metrics["response_length/mean"]?.toFixed(1),
    ].join("\t"),
  );
  const held = validation.map(
    ({ step, metrics }) =>
      `step ${step}: ${Object.entries(metrics)
        .filter(([name]) => name.startsWith("val-core/"))
        .map(([name, value]) => `${name.split("/")[1]} ${value.toFixed(3)}`)
        .join(", ")}`,
  );
  return { "text/plain": ["step\tscore\tentropy\tclipped\ttokens", ...lines, ...held].join("\n") };
}
