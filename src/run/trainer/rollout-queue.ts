import type { LoaderState } from "../../tasks/batches.js";
import { addCost, type Cost, noCost } from "../../learn/measures/spent.js";
import type { StalenessPlan } from "../staleness/plan.js";
import type { Gathered } from "./gather-rollouts.js";

/** A batch that was drawn, and may wait to be trained on. */
export interface DrawnBatch extends Gathered {
  /** Its place among all that the run has drawn: 1 for the first. */
  number: number;
  /** Updates that had been made when it was drawn. */
  version: number;
}

/** What a batch is drawn with. */
export interface Drawing {
  number: number;
  /** Where the batch before it left the tasks. */
  loader: LoaderState;
  /** What the batches that wait have cost, and those that were dropped in this step. */
  spent: Cost;
}

/** What a step trains on. */
export interface Taken {
  batch: DrawnBatch;
  /** What it cost, batches that were dropped before it included. */
  cost: Cost;
  metrics: Record<string, number>;
}

const together = (batches: readonly DrawnBatch[]): Cost =>
  batches.reduce((sum, { cost }) => addCost(sum, cost), noCost);

/**
 * Batches in the order in which they are trained on. They are drawn by the weights of now, as far ahead as the plan says,
 * and wait: what is trained on later was then sampled by weights that many updates old.
 */
export class RolloutQueue {
  #waiting: DrawnBatch[];

  constructor(
    readonly plan: StalenessPlan,
    waiting: readonly DrawnBatch[] = [],
  ) {
    this.#waiting = [...waiting];
  }

  /** What was drawn and not trained on. */
  get waiting(): readonly DrawnBatch[] {
    return this.#waiting;
  }

  /**
   * Drops what is too old, draws what is due, and gives the batch whose turn it is.
   * @param at updates that were made, batches drawn so far, batches that the run still trains on
   */
  async take(
    at: { version: number; drawn: number; left: number; loader: LoaderState },
    draw: (how: Drawing) => Promise<Gathered>,
  ): Promise<Taken & { drawn: number; loader: LoaderState }> {
    const { plan } = this;
    const { version } = at;
    let { drawn, loader } = at;
    const dropped: DrawnBatch[] = [];
    while (this.#waiting[0] && plan.drops(this.#waiting[0].version, version)) {
      dropped.push(this.#waiting.shift()!);
    }
    const waiting = this.#waiting.length;
    for (let due = plan.due({ ...at, waiting }); due > 0; due--) {
      const spent = together([...this.#waiting, ...dropped]);
      const made = await draw({ number: ++drawn, loader, spent });
      this.#waiting.push({ ...made, number: drawn, version });
      ({ loader } = made);
    }
    const batch = this.#waiting.shift()!;
    return {
      ...{ batch, drawn, loader, cost: addCost(batch.cost, together(dropped)) },
      metrics: plan.isAsync
        ? {
            "staleness/in_queue": plan.age(batch.version, version),
            "staleness/waiting": this.#waiting.length,
            "staleness/dropped": dropped.length,
          }
        : {},
    };
  }
}
