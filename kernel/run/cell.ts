import { makeContext } from "#platform/process";
import type { CellIdentity } from "../host/host.js";

/** A cell while it runs, and for as long as its timers and promises do. */
export class RunningCell implements CellIdentity {
  readonly #abort = new AbortController();

  constructor(
    readonly id: string,
    readonly count: number,
    readonly allowStdin: boolean,
    readonly cellId?: string,
  ) {}

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }
}

const storage = makeContext<RunningCell>();
let last: RunningCell | undefined;

/** Runs `body` as part of `cell`: what it starts belongs to the cell, also later. */
export function runAs<T>(cell: RunningCell, body: () => T): T {
  last = cell;
  return storage.run(cell, body);
}

/** The cell the current code belongs to; failing that, the one that was started last. */
export function currentCell(): RunningCell | undefined {
  return storage.getStore() ?? last;
}

/** The cell that made a promise. Node 20 keeps it on the promise and tells nobody else. */
export function cellOfPromise(promise: Promise<unknown>): RunningCell | undefined {
  const { kResourceStore } = storage as unknown as { kResourceStore?: symbol };
  const kept = kResourceStore && (promise as unknown as Record<symbol, unknown>)[kResourceStore];
  return kept instanceof RunningCell ? kept : currentCell();
}
