import type { ImportedRow } from "./row/imported-row.js";

/** One step's numbers, as lines of metrics have them. */
export type StepLine = { step: number } & Record<string, number>;

interface Sum {
  sum: number;
  count: number;
  least: number;
  most: number;
}

const nothing = (): Sum => ({ sum: 0, count: 0, least: Infinity, most: -Infinity });

/** What a trajectory says of its lengths and calls, where it says it without a tokenizer. */
function measuresOf({ parts, messages }: Pick<ImportedRow, "parts" | "messages">) {
  const calls = messages
    ? messages.filter(({ role }) => role !== "assistant").length
    : parts.filter(({ by }) => by === "tool").length;
  const counted = parts.length > 0 && parts.every(({ tokens, pieces }) => tokens ?? pieces);
  const tokens = counted
    ? parts.reduce((n, part) => n + (part.tokens ?? part.pieces ?? []).length, 0)
    : undefined;
  return { calls, tokens };
}

/** Adds up the trajectories of every step, those too of which no tree is kept. */
export class StepLines {
  readonly #steps = new Map<number, Map<string, Sum>>();

  #add(step: number, name: string, value: number): void {
    let sums = this.#steps.get(step);
    if (!sums) this.#steps.set(step, (sums = new Map()));
    let sum = sums.get(name);
    if (!sum) sums.set(name, (sum = nothing()));
    sum.sum += value;
    sum.count++;
    sum.least = Math.min(sum.least, value);
    sum.most = Math.max(sum.most, value);
  }

  /** Counts a rollout in. */
  count(row: Pick<ImportedRow, "step" | "score" | "numbers"> & Partial<ImportedRow>): void {
    const { step = 0, score, numbers = {}, advantage } = row;
    this.#add(step, "rows", 1);
    if (score !== undefined) this.#add(step, "score", score);
    if (advantage !== undefined) this.#add(step, "advantage", advantage);
    for (const [name, value] of Object.entries(numbers)) this.#add(step, `part ${name}`, value);
    if (!row.parts) {
      if (numbers["tokens"] !== undefined) this.#add(step, "tokens", numbers["tokens"]);
      return;
    }
    const { calls, tokens } = measuresOf({ parts: row.parts, messages: row.messages });
    this.#add(step, "calls", calls);
    if (tokens !== undefined) this.#add(step, "tokens", tokens);
  }

  /** A line per step, under the names that runs of this package write. */
  lines(): StepLine[] {
    const steps = [...this.#steps].sort(([a], [b]) => a - b);
    return steps.map(([step, sums]) => {
      const line: StepLine = { step };
      for (const [name, { sum, count, least, most }] of sums) {
        if (name === "rows") line["rollouts"] = count;
        else if (name === "score") {
          Object.assign(line, {
            "critic/score/mean": sum / count,
            "critic/score/max": most,
            "critic/score/min": least,
          });
        } else if (name === "tokens") {
          Object.assign(line, { "response_length/mean": sum / count, "response_length/max": most });
        } else if (name === "calls") line["tools/calls_per_sample"] = sum / count;
        else if (name === "advantage") line["critic/advantages/mean"] = sum / count;
        else line[`reward/${name.slice("part ".length)}/mean`] = sum / count;
      }
      return line;
    });
  }
}
