import { quantities, type Quantity, type RolloutFormat } from "./formats/format.js";
import type { ImportedRow } from "./row/imported-row.js";

/** What became of one quantity: whether the files carry it, and where it stands or comes from. */
export interface Carried {
  quantity: Quantity;
  carried: "all" | "some" | "none";
  /** In words: the field it was read from, or what stands in its place. */
  from: string;
}

/** Whether a trajectory carries a quantity; undefined for a trajectory that could not. */
const has: Readonly<Partial<Record<Quantity, (row: ImportedRow) => boolean | undefined>>> = {
  tokens: ({ parts }) => parts.length > 0 && parts.every(({ tokens, pieces }) => tokens ?? pieces),
  "log-probs": ({ parts }) => byModel(parts, ({ logprobs }) => logprobs !== undefined),
  entropies: ({ parts }) => byModel(parts, ({ entropies }) => entropies !== undefined),
  rewards: ({ score }) => score !== undefined,
  advantages: ({ advantage, parts }) =>
    advantage !== undefined || byModel(parts, ({ advantages }) => advantages !== undefined),
  "ground truth": ({ groundTruth }) => groundTruth !== undefined,
  steps: ({ step }) => step !== undefined,
  "how trajectories ended": ({ end }) => end !== undefined,
  "tool results": ({ parts, messages }) =>
    messages
      ? messages.some(({ role }) => role !== "assistant")
      : parts.some(({ by }) => by === "tool"),
};

function byModel(
  parts: ImportedRow["parts"],
  test: (part: ImportedRow["parts"][number]) => boolean,
) {
  const own = parts.filter(({ by }) => by === "model");
  return own.length > 0 && own.every(test);
}

/** What stands in the place of a quantity that a file does not carry. */
const instead: Readonly<Record<Quantity, string>> = {
  tokens: "not in the file",
  parents: "not in the file: trajectories of one prompt share what they begin with",
  "tool results": "none seen",
  "log-probs": "not in the file; a policy can fill them in",
  entropies: "not in the file; a policy can fill them in",
  rewards: "not in the file",
  advantages: "not in the file",
  "ground truth": "not in the file",
  steps: "not in the file: all trajectories count as step 0",
  "how trajectories ended": "not in the file: trajectories count as answers",
};

/** Counts what trajectories carry while a file is read. */
export class CarriedCount {
  #rows = 0;
  readonly #counts = new Map<Quantity, number>();
  readonly #formats = new Set<RolloutFormat>();

  count(row: ImportedRow, format: RolloutFormat): void {
    this.#rows++;
    this.#formats.add(format);
    for (const quantity of quantities) {
      if (has[quantity]?.(row)) this.#counts.set(quantity, (this.#counts.get(quantity) ?? 0) + 1);
    }
  }

  /** Trees of our own files carry everything but scores. */
  countTree(format: RolloutFormat): void {
    this.#rows++;
    this.#formats.add(format);
    for (const quantity of quantities) {
      if (format.says[quantity]) this.#counts.set(quantity, (this.#counts.get(quantity) ?? 0) + 1);
    }
  }

  /** The table: every quantity once. */
  table(tokens: string): Carried[] {
    return quantities.map((quantity): Carried => {
      const count = this.#counts.get(quantity) ?? 0;
      const said = [...this.#formats].flatMap(({ says }) => says[quantity] ?? []);
      const carried = count === 0 ? "none" : count === this.#rows ? "all" : "some";
      if (quantity === "parents" && carried === "none") {
        return { quantity, carried, from: said[0] ?? instead.parents };
      }
      if (quantity === "tokens") {
        const from = carried === "all" ? (said[0] ?? "ids in the file") : tokens;
        return { quantity, carried, from };
      }
      if (carried === "none") return { quantity, carried, from: instead[quantity] };
      const part = carried === "some" ? ` (${count} of ${this.#rows} trajectories)` : "";
      return { quantity, carried, from: `${said.join("; ") || "in the file"}${part}` };
    });
  }
}
