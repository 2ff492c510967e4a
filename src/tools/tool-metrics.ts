import type { ToolOutcome } from "./tool-set.js";

interface Tally {
  calls: number;
  successes: number;
  seconds: number;
}

/**
 * Counts the tool calls of a batch of rollouts, under the reference's metric names. Times are in
 * seconds.
 */
export class ToolMetrics {
  readonly #perTool = new Map<string, Tally>();
  #failed = 0;
  #longest = 0;
  #maxRetries = 0;
  #totalRetries = 0;
  #limitReached = 0;

  constructor(tags: Iterable<string> = []) {
    for (const tag of tags) this.#tally(tag);
  }

  /** Counts a finished call. */
  record(outcome: ToolOutcome): void {
    const tally = this.#tally(outcome.tag);
    const seconds = outcome.ms / 1000;
    tally.calls++;
    tally.seconds += seconds;
    if (outcome.ok) tally.successes++;
    else this.#failed++;
    this.#longest = Math.max(this.#longest, seconds);
    this.#maxRetries = Math.max(this.#maxRetries, outcome.retries);
    this.#totalRetries += outcome.retries;
  }

  /** Counts a trajectory that was ended because it asked for one call too many. */
  recordLimitReached(): void {
    this.#limitReached++;
  }

  /** Every figure by its metric name; those of a tool that was never called are 0. */
  values(): Record<string, number> {
    const tallies = [...this.#perTool.values()];
    const calls = tallies.reduce((sum, t) => sum + t.calls, 0);
    const seconds = tallies.reduce((sum, t) => sum + t.seconds, 0);
    const values: Record<string, number> = {
      "tools/total_calls": calls,
      "tools/successful_calls": calls - this.#failed,
      "tools/failed_calls": this.#failed,
      "tools/total_execution_time": seconds,
      "tools/avg_execution_time": calls > 0 ? seconds / calls : 0,
      "tools/max_execution_time": this.#longest,
      "tools/max_retries": this.#maxRetries,
      "tools/total_retries": this.#totalRetries,
      "tools/call_limit_reached_count": this.#limitReached,
    };
    for (const [tag, tally] of this.#perTool) {
      values[`tools/${tag}/calls`] = tally.calls;
      values[`tools/${tag}/avg_time`] = tally.calls > 0 ? tally.seconds / tally.calls : 0;
      values[`tools/${tag}/success_rate`] = tally.calls > 0 ? tally.successes / tally.calls : 0;
    }
    return values;
  }

  #tally(tag: string): Tally {
    let tally = this.#perTool.get(tag);
    if (!tally) this.#perTool.set(tag, (tally = { calls: 0, successes: 0, seconds: 0 }));
    return tally;
  }
}
