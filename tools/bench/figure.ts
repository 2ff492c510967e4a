/** One measured number. With `--json` each is one line of standard output. */
export interface Figure {
  /** `AREA.what`. */
  name: string;
  value: number;
  unit: string;
  backend?: string;
  /** What it is compared with in the same run, that one's value, and ours divided by it. */
  baseline?: string;
  baselineValue?: number;
  ratio?: number;
  /** The time that this machine's limits allow at least, divided by the time taken (parts/least-times.ts). */
  share?: number;
}

/** What every benchmark module exports as `figures`. */
export type Benchmark = (args: readonly string[]) => AsyncIterable<Figure>;

const short = (x: number | undefined) => (x === undefined ? "-" : String(Number(x.toPrecision(4))));

/** A figure as a line of a table. */
export function figureLine(figure: Figure): string {
  const { name, value, unit, baseline, baselineValue, ratio, share } = figure;
  const reached = share === undefined ? "" : `  share ${short(share)}`;
  const beside =
    baseline === undefined ? "" : `  ${baseline}: ${short(baselineValue)} (ratio ${short(ratio)})`;
  return `${name.padEnd(36)} ${short(value)} ${unit}${reached}${beside}`;
}
