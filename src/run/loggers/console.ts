import { write as output } from "#platform/note";
import { checkOptions } from "../../../common/options/check-options.js";
import { printable } from "../../base/text/printable.js";
import { duration } from "../../base/show/progress-line.js";
import { defineLogger } from "./definition.js";
import type { Logger } from "./logger.js";

/** The figures worth a column, in this order, where they are there. */
const columns: [name: string, label: string][] = [
  ["critic/score/mean", "score"],
  ["actor/entropy_loss", "entropy"],
  ["actor/pg_clipfrac", "clipped"],
  ["actor/grad_norm", "grad"],
  ["response_length/mean", "tokens"],
  ["tools/total_calls", "calls"],
  ["timing_s/gen", "gen s"],
  ["timing_s/tool_calls", "tools s"],
  ["timing_s/reward", "reward s"],
  ["timing_s/old_log_prob", "old s"],
  ["timing_s/update_actor", "update s"],
  ["timing_s/step", "step s"],
];

/** With the space before it. */
const width = 9;
const headEvery = 20;
const barWidth = 24;

const cells = (list: readonly string[]) =>
  list.map((cell) => ` ${cell.padStart(width - 1)}`).join("");

/** Four digits where they fit into a column, as many as do where not. */
function figure(value: number): string {
  for (let digits = 4; digits > 1; digits--) {
    const text = String(Number(value.toPrecision(digits)));
    if (text.length < width) return text;
  }
  return value.toExponential(value < 0 ? 0 : 1);
}

function bar(done: number, all: number): string {
  const full = Math.round((barWidth * done) / all);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)}`;
}

/**
 * A logger that prints a table, one row a step under a head that comes again every so often, the time
 * left in its last column. On a terminal (`live`) a line of progress stays below the table.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { consoleLogger } from "arpo-lab/run";
 *
 * let text = "";
 * const logger = consoleLogger({ write: (more) => (text += more) });
 * logger.begin?.({ step: 0, totalSteps: 4 });
 * await logger.log(1, { "critic/score/mean": 0.25, "timing_s/step": 20 });
 * assert.match(text, /score +step s +left\n +1\/4 +0.25 +20 +1 min 0 s/);
 * ```
 */
export function consoleLogger(
  options: {
    /** Takes the text. Default: standard output. */
    write?: (text: string) => void;
    /** Keep a line with the progress of the step at the bottom. Default: false. */
    live?: boolean;
  } = {},
): Logger {
  checkOptions("log", options, { write: "function?", live: "boolean?" });
  const { live = false, write = output } = options;
  let lines = 0;
  let total: number | undefined;
  let status = "";
  // Times of the last steps: the first of a run also warms up tools and caches.
  const recent: number[] = [];

  /** Prints above the line of progress. */
  const print = (text: string) => {
    write(live && status ? `\r\u001b[K${text}${status}` : text);
  };

  return {
    name: "console",
    begin: ({ totalSteps }) => {
      total = Number.isFinite(totalSteps) ? totalSteps : undefined;
    },
    log: (step, metrics) => {
      const shown = columns.filter(([name]) => metrics[name] !== undefined);
      let text = "";
      if (shown.length > 0) {
        const seconds = metrics["timing_s/step"];
        if (seconds !== undefined) recent.push(seconds);
        if (recent.length > 8) recent.shift();
        const pace = [...recent].sort((a, b) => a - b)[recent.length >> 1];
        const done = metrics["training/progress"] ?? (total === undefined ? 0 : step / total);
        const left =
          done === 0 || pace === undefined
            ? undefined
            : duration((pace * step * (1 - done)) / done);
        if (lines++ % headEvery === 0) {
          const labels = shown.map(([, label]) => label);
          text += `${cells(["step", ...labels])}${left === undefined ? "" : "  left"}\n`;
        }
        const values = shown.map(([name]) => figure(metrics[name]!));
        text += `${cells([total === undefined ? `${step}` : `${step}/${total}`, ...values])}`;
        text += `${left === undefined ? "" : `  ${left}`}\n`;
        if (live && total !== undefined) {
          status = `${bar(step, total)} ${step}/${total}${left === undefined ? "" : `, ${left} left`}`;
        }
      }
      for (const [name, value] of Object.entries(metrics)) {
        if (name.startsWith("val-core/")) text += `      ${name} ${value.toFixed(4)}\n`;
      }
      if (text) print(text);
    },
    answers: (step, rows) => {
      const text = rows.map(
        ({ input, output, score, reason }) =>
          `      step ${step}, score ${score.toFixed(2)} (${printable(reason) || "no reason given"})\n        ${printable(input).trim()}\n        ${printable(output).trim()}\n`,
      );
      print(text.join(""));
    },
    close: () => {
      if (live && status) write("\n");
      status = "";
    },
  };
}

/** A table on the terminal. */
export const consoleDefinition = defineLogger({
  name: "console",
  open: ({ write }) => consoleLogger({ write }),
});
