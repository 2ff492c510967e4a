import { setTimeout as sleep } from "node:timers/promises";

/** The next turn of the event loop: what has arrived meanwhile is served first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls when the thread is free. */
export function soon(call: () => void): void {
  setImmediate(call);
}

/** A timer that keeps nothing alive. */
export function later(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(call, ms).unref();
}

/** Waits; a signal ends it with an `AbortError`. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
