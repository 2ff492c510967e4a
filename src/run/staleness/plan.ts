import { ageOf, oldestVersion, mayDraw, type StalenessLimit } from "./limits/definition.js";
import { stalenessLimits } from "./limits/registry.js";
import type { Given } from "../../../common/options/option-table.js";
import type { stalenessTable } from "./options.js";

/** What a run says of how old its rollouts may be. */
export type StalenessOptions = {
  [K in keyof Given<typeof stalenessTable>]: Given<typeof stalenessTable>[K] | undefined;
};

const refuse = (name: string, must: string, got: unknown): never => {
  throw new RangeError(`Cannot train: ${name} must be ${must}, got ${String(got)}`);
};

/** When a run draws its batches, and which of them it trains on. */
export class StalenessPlan {
  /** Batches that are drawn beyond those that are trained on until the sampler gets other weights. */
  readonly ahead: number;
  readonly syncEvery: number;
  readonly #limit: StalenessLimit | undefined;
  readonly #bound: number;

  /** @param batch prompts of a step */
  constructor(
    options: StalenessOptions,
    readonly batch: number,
  ) {
    const { stalenessThreshold: share, maxStaleness: most } = options;
    const named = options.stalenessLimit ?? (share === undefined ? undefined : "verl-fully-async");
    const limit =
      named === undefined ? undefined : stalenessLimits.of("train", "stalenessLimit", named);
    if (!limit && most !== undefined)
      refuse("maxStaleness", "left out without stalenessLimit", most);
    if (limit && limit.counts !== "share" && share !== undefined)
      refuse("stalenessThreshold", `left out with the limit ${limit.name}`, share);
    if (limit && (limit.counts === "share" || limit.fixed) && most !== undefined)
      refuse(
        "maxStaleness",
        limit.fixed
          ? `left out with the limit ${limit.name}, whose bound is ${limit.bound}`
          : `left out with the limit ${limit.name}, whose bound is stalenessThreshold`,
        most,
      );
    this.#limit = limit;
    this.#bound = share ?? most ?? limit?.bound ?? Infinity;
    this.syncEvery = options.syncEvery ?? limit?.syncEvery ?? 1;
    if (limit && limit.syncEvery === undefined && this.syncEvery !== 1)
      refuse(
        "syncEvery",
        `1 with the limit ${limit.name}, whose sampler gets the weights of every update`,
        this.syncEvery,
      );
    this.ahead = options.async ?? (limit ? this.#allowed(limit) : 0);
    if (limit?.fixed && this.ahead !== limit.bound)
      refuse("async", `${limit.bound} with the limit ${limit.name}`, this.ahead);
  }

  /** As many batches ahead as a limit allows. */
  #allowed(limit: StalenessLimit): number {
    if (!limit.admits) return this.#bound;
    const { batch, syncEvery } = this;
    const first = limit.admits({ version: 0, batch, bound: this.#bound, syncEvery });
    return Math.max(0, Math.floor(first / batch) - syncEvery);
  }

  /** Whether batches are trained on that older weights have sampled. */
  get isAsync(): boolean {
    return this.ahead > 0 || this.syncEvery > 1;
  }

  /** Whether a batch that was drawn after so many updates is dropped after some more. */
  drops(drawn: number, version: number): boolean {
    return this.#limit?.older === "dropped" && drawn < oldestVersion(version, this.#bound);
  }

  /** How many updates old a batch is. */
  age(drawn: number, version: number): number {
    return ageOf(version, { from: drawn, to: drawn }).age;
  }

  /**
   * How many batches are drawn now.
   * @param version updates that were made
   * @param waiting batches that are drawn and not trained on
   * @param drawn batches that were drawn so far
   * @param left batches that the run still trains on
   */
  due({
    version,
    waiting,
    drawn,
    left,
  }: Record<"version" | "waiting" | "drawn" | "left", number>): number {
    // One is always there to train on.
    const least = waiting === 0 ? 1 : 0;
    const { syncEvery, batch, ahead } = this;
    if (version % syncEvery !== 0) return least;
    const wanted = Math.min(syncEvery + ahead, left) - waiting;
    if (!this.#limit) return Math.max(least, wanted);
    const at = { version, batch, bound: this.#bound, syncEvery };
    const allowed = mayDraw(this.#limit, at, { accepted: drawn * batch, running: 0 });
    return Math.max(least, Math.min(wanted, Math.floor(allowed / batch)));
  }
}
