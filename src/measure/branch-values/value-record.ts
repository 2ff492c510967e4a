/** A state of a measured trajectory: what forks from there got. */
export interface ValueState {
  /** The first of its tokens, counted among those that the policy drew. */
  at: number;
  /** The score of each fork. */
  scores: number[];
  /** Tokens that the forks drew, and calls that they made, all together. */
  tokens: number;
  calls: number;
}

/** What was measured of one prompt: plain data, a line of a file. */
export interface ValueRecord {
  index: number;
  task: string;
  /** Of the measured trajectory itself. */
  score: number;
  /** Its drawn tokens: text, entropy in nats, ln p, and ln p under the current policy where there was one. */
  texts: string[];
  entropies: number[];
  logprobs: number[];
  current?: number[];
  /** The block that each token stands in (`think`, a tool's tag, `answer`); "" between blocks. */
  blocks: string[];
  /** Each generate call: its first token, and its entropy as branching measures it. */
  segments: { start: number; entropy: number }[];
  states: ValueState[];
  /** The prompt's other trajectories: drawn tokens that they share with the measured one, and their scores. */
  group: { shared: number; score: number }[];
}

/** What stays the same for a whole file of records. */
export interface ValueSettings {
  policy: string;
  /** Of the weights of the policy, and of `current`, where they are in this process and go into a file. */
  weights?: string;
  currentWeights?: string;
  K: number;
  sure: number;
  group: number;
  seed: number;
  tools: string[];
  callLimit: number;
  responseLength: number;
  sampling: Record<string, unknown>;
  reward: string;
}

const format = "arpo-lab branch values 1";

/** Four places are more than forks can tell; values are the same in memory and in a file. */
export const rounded = (x: number): number => Number(x.toFixed(4)) + 0;

/** Equal neighbours as [value, count]. */
function runsOf<T>(values: readonly T[]): [T, number][] {
  const runs: [T, number][] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last && last[0] === value) last[1]++;
    else runs.push([value, 1]);
  }
  return runs;
}

const fromRuns = <T>(runs: readonly (readonly [T, number])[]): T[] =>
  runs.flatMap(([value, count]) => new Array<T>(count).fill(value));

export const headLine = (settings: ValueSettings): string =>
  `${JSON.stringify({ format, ...settings })}\n`;

/** A record as a line: the same record gives the same bytes. */
export function recordLine(record: ValueRecord): string {
  const { segments, states, group, blocks, ...rest } = record;
  const line = {
    ...rest,
    blocks: runsOf(blocks),
    segments: segments.map(({ start, entropy }) => [start, entropy]),
    states: states.map(({ at, scores, tokens, calls }) => [at, tokens, calls, runsOf(scores)]),
    group: group.map(({ shared, score }) => [shared, score]),
  };
  return `${JSON.stringify(line)}\n`;
}

function recordOf(line: string): ValueRecord {
  const read = JSON.parse(line) as Omit<ValueRecord, "blocks" | "segments" | "states" | "group"> & {
    blocks: [string, number][];
    segments: [number, number][];
    states: [number, number, number, [number, number][]][];
    group: [number, number][];
  };
  return {
    ...read,
    blocks: fromRuns(read.blocks),
    segments: read.segments.map(([start, entropy]) => ({ start, entropy })),
    states: read.states.map(([at, tokens, calls, runs]) => ({
      ...{ at, tokens, calls },
      scores: fromRuns(runs),
    })),
    group: read.group.map(([shared, score]) => ({ shared, score })),
  };
}

/** What a file holds: its settings, its records, and how many bytes of it are whole lines. */
export interface ValueFile {
  settings: ValueSettings;
  records: ValueRecord[];
  bytes: number;
}

/** Reads a file of values; a last line that was cut off does not count. Undefined where there is not even a first. */
export function readValues(text: string, path: string): ValueFile | undefined {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const [head, ...lines] = whole.split("\n").slice(0, -1);
  if (head === undefined) return undefined;
  let settings: ValueSettings & { format?: string };
  let records: ValueRecord[];
  try {
    settings = JSON.parse(head) as ValueSettings;
    if (settings.format !== format) throw new Error(`format ${String(settings.format)}`);
    records = lines.map(recordOf);
  } catch (error) {
    throw new SyntaxError(
      `Cannot load branch values: ${path} must be a file that branchValues wrote, got ${(error as Error).message}`,
      { cause: error },
    );
  }
  delete settings.format;
  return { settings, records, bytes: new TextEncoder().encode(whole).length };
}
