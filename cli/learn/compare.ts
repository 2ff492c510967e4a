import { basename } from "node:path";
import { RunFolder } from "../../src/run/index.js";

type Line = Record<string, unknown>;

/** First, last and greatest value of a metric in a run. */
function summary(lines: readonly Line[], metric: string) {
  const values = lines.flatMap((line) => {
    const value = line[metric];
    return typeof value === "number" ? [{ step: line["step"] as number, value }] : [];
  });
  if (values.length === 0) return undefined;
  const best = values.reduce((a, b) => (b.value > a.value ? b : a));
  return { first: values[0]!, last: values[values.length - 1]!, best };
}

/** `arpo-lab compare`: where runs began, where they ended, and their best. */
export async function compareRuns(runs: string[], options: { metric: string[] }): Promise<void> {
  const loaded = await Promise.all(
    runs.map(async (path) => ({
      name: basename(path),
      lines: await (await RunFolder.existing(path)).metrics(),
    })),
  );
  const core = new Set(
    loaded
      .flatMap(({ lines }) => lines.flatMap((line) => Object.keys(line)))
      .filter((name) => /^val-core\//.test(name)),
  );
  const metrics = options.metric.length > 0 ? options.metric : ["critic/score/mean", ...core];
  for (const metric of metrics) {
    console.log(metric);
    for (const { name, lines } of loaded) {
      const found = summary(lines, metric);
      const text = found
        ? `${found.first.value.toFixed(3)} -> ${found.last.value.toFixed(3)}  best ${found.best.value.toFixed(3)} at step ${found.best.step}`
        : "not measured";
      console.log(`  ${name.padEnd(24)} ${text}`);
    }
  }
}
