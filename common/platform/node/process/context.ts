import { AsyncLocalStorage } from "node:async_hooks";

/** A value that code knows which was called with it, also after it has waited. */
export interface Context<T> {
  run<R>(value: T, call: () => R): R;
  getStore(): T | undefined;
}

export function makeContext<T>(): Context<T> {
  return new AsyncLocalStorage<T>();
}
