import type { CellCompiler } from "./compiler.js";
import type { Port } from "./port.js";

type Method = keyof CellCompiler;

/** A call to the compiler's thread; call 0 wants no answer. */
export interface CompilerCall {
  call: number;
  method: Method;
  args: unknown[];
}

type Answer = { call?: number; value?: unknown; error?: string };
type Awaited2<M extends Method> = Awaited<ReturnType<NonNullable<CellCompiler[M]>>>;

const { deleteProperty } = Reflect;
const STOPPED = "the compiler's thread has stopped; restart the kernel";

/** The compiler as seen from another thread. */
export class CompilerClient {
  readonly #port: Port;
  // No Map: a cell may have replaced its methods, and wait for a module that it imports.
  #waiting: Record<number, { resolve: (value: never) => void; reject: (e: Error) => void }> = {};
  #calls = 0;
  #stopped = false;

  constructor(port: Port) {
    this.#port = port;
    port.onMessage(({ call, value, error }: Answer) => {
      if (call === undefined) return; // a cell, for the main thread
      const waiting = this.#waiting[call];
      deleteProperty(this.#waiting, call);
      if (error === undefined) waiting?.resolve(value as never);
      else waiting?.reject(new Error(error));
    });
    const stopped = (): void => {
      this.#stopped = true;
      for (const call in this.#waiting) this.#waiting[call]!.reject(new Error(STOPPED));
      this.#waiting = {};
    };
    port.onGone(stopped);
  }

  call<M extends Method>(
    method: M,
    ...args: Parameters<NonNullable<CellCompiler[M]>>
  ): Promise<Awaited2<M>> {
    if (this.#stopped) return Promise.reject(new Error(STOPPED));
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting[call] = { resolve, reject };
      this.#port.postMessage({ call, method, args } satisfies CompilerCall);
    });
  }

  /** Tells without waiting. */
  tell<M extends Method>(method: M, ...args: Parameters<NonNullable<CellCompiler[M]>>): void {
    this.#port.postMessage({ call: 0, method, args } satisfies CompilerCall);
  }
}
