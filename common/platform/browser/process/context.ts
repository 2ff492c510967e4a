import type * as node from "../../node/process/context.js";

/** Known until the call first waits: a tab tells nobody what came after. */
export const makeContext: typeof node.makeContext = <T>() => {
  const values: T[] = [];
  return {
    run<R>(value: T, call: () => R): R {
      values.push(value);
      try {
        return call();
      } finally {
        values.pop();
      }
    },
    getStore: () => values.at(-1),
  };
};
