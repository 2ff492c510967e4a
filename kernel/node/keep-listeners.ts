import type { EventEmitter } from "node:events";

type Listener = (...args: never[]) => void;

/**
 * Adds listeners that code in cells does not take away: `process.removeAllListeners()` takes all others,
 * and with the kernel's own the next error that nobody caught would end the process.
 */
export function keepListeners(target: EventEmitter, kept: Record<string, Listener>): void {
  const names = Object.keys(kept);
  const restore = (): void => {
    for (const name of names) {
      const listener = kept[name] as (...args: unknown[]) => void;
      if (!target.listeners(name).includes(listener)) target.prependListener(name, listener);
    }
  };
  restore();
  for (const name of ["off", "removeListener", "removeAllListeners"] as const) {
    const take = target[name] as (...args: unknown[]) => EventEmitter;
    Object.defineProperty(target, name, {
      value(this: EventEmitter, ...args: unknown[]): EventEmitter {
        const result = take.apply(this, args);
        restore();
        return result;
      },
      configurable: true,
      writable: true,
    });
  }
}
