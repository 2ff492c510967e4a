// V8 tells an error that somebody will catch from one that nobody will by looking for handlers. The kernel
// catches every error of a cell, so for V8 none would be uncaught. While the debugger stops at uncaught
// errors, a cell is started with no handler of the kernel's behind it: how it failed is learned from Node,
// which tells of rejections that nobody handles.
const { then } = Promise.prototype;
const { apply } = Reflect;

const watched = new WeakMap<Promise<unknown>, (reason: unknown) => void>();

/** Runs `body`, and catches what it rejects with where V8 does not see it. */
export function runUncaught<T>(body: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    queueMicrotask(() => {
      // A derived promise without a handler: it is the one that Node will name.
      const derived = apply(then, body(), [resolve]) as Promise<unknown>;
      watched.set(derived, reject);
    });
  });
}

/** Whether a rejection is that of a cell, which is told of it then. */
export function takeUncaught(promise: Promise<unknown>, reason: unknown): boolean {
  const reject = watched.get(promise);
  reject?.(reason);
  return reject !== undefined;
}
