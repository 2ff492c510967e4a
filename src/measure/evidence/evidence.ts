import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import type { ChangeName } from "./changes/registry.js";
import { type EvidenceResult, type EvidenceTotal, totalsOf } from "./evidence-values.js";

const percent = (x: number) => `${Math.round(100 * x)}%`;
const ends = ({ low, high }: { low: number; high: number }, say: (x: number) => string) =>
  `${say(low)} to ${say(high)}`;

/**
 * Whether the answers of a tree rest on what its tools said: made by `evidence`. Shows itself.
 */
export class Evidence {
  constructor(
    /** Every result that was looked at. */
    readonly results: readonly EvidenceResult[],
    readonly settings: {
      policy: string;
      tries: number;
      seed: number;
      changes: readonly ChangeName[];
    },
    /** Tokens that the forks wrote, and what was left out, in sentences. */
    readonly spent: { tokens: number; left: readonly string[] },
  ) {}

  /** All results together, a line for each change. */
  get totals(): EvidenceTotal[] {
    return totalsOf(this.results, this.settings.changes);
  }

  /** A line for each change, then one for each result. */
  toString(): string {
    const { tries, policy } = this.settings;
    const count = `${this.results.length} tool ${this.results.length === 1 ? "result" : "results"}`;
    const totals = this.totals.map(({ change, results, survived, reward, falls, stays }) =>
      [
        ...[change, String(results), percent(survived.value), ends(survived, percent)],
        ...[reward.value.toFixed(2), ends(reward, (x) => x.toFixed(2))],
        ...(change === "kept" ? ["", ""] : [String(falls), String(stays)]),
      ].join("\t"),
    );
    const each = this.results.map(({ node, tag, answer, kept, changed }) =>
      [
        ...[`node ${node}`, tag, answer, percent(kept.survived.value)],
        ...this.settings.changes.map((name) => {
          const found = changed[name];
          return found ? `${percent(found.survived.value)} ${found.verdict}` : "–";
        }),
      ].join("\t"),
    );
    return [
      `Evidence: ${count}, ${tries} forks each of ${policy}, ${this.spent.tokens} tokens; intervals are 95%`,
      "result\tresults\tsame answer\tinterval\tscore\tinterval\tfalls\tstays",
      ...totals,
      ["result", "tool", "answer", "kept", ...this.settings.changes].join("\t"),
      ...each,
      ...this.spent.left,
    ].join("\n");
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Figures", text: `evidence of ${this.results.length} tool results` };
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("Evidence", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
