import type { Logger } from "./logger.js";

/** The figures worth a line, in this order, where they are there. */
const columns: [name: string, label: string][] = [
  ["critic/score/mean", "score"],
  ["actor/entropy_loss", "entropy"],
  ["actor/pg_clipfrac", "clipped"],
  ["actor/grad_norm", "grad"],
  ["response_length/mean", "tokens"],
  ["tools/total_calls", "calls"],
  ["timing_s/gen", "gen s"],
  ["timing_s/update_actor", "update s"],
  ["timing_s/step", "step s"],
];

const width = 9;

/** A logger that prints one line a step under a head that comes again every so often. */
export function consoleLogger(
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Logger {
  let lines = 0;
  return {
    name: "console",
    log: (step, metrics) => {
      const shown = columns.filter(([name]) => metrics[name] !== undefined);
      if (shown.length > 0) {
        if (lines++ % 20 === 0) {
          write(
            `${["step", ...shown.map(([, label]) => label)].map((l) => l.padStart(width)).join("")}\n`,
          );
        }
        const cells = shown.map(([name]) => String(Number(metrics[name]!.toPrecision(4))));
        write(`${[String(step), ...cells].map((c) => c.padStart(width)).join("")}\n`);
      }
      for (const [name, value] of Object.entries(metrics)) {
        if (name.startsWith("val-core/")) write(`      ${name} ${value.toFixed(4)}\n`);
      }
    },
  };
}
