import { Worker, type MessagePort } from "node:worker_threads";
import type { CellCompiler } from "./compiler.js";

type Method = keyof CellCompiler;

/** A call to the compiler's thread; call 0 wants no answer. */
export interface CompilerCall {
  call: number;
  method: Method;
  args: unknown[];
}

type Answer = { call: number; value?: unknown; error?: string };
type Awaited2<M extends Method> = Awaited<ReturnType<NonNullable<CellCompiler[M]>>>;

const STOPPED = "the compiler's thread has stopped; restart the kernel";

/** The compiler as seen from another thread. */
export class CompilerClient {
  readonly #port: MessagePort | Worker;
  readonly #waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (e: Error) => void }
  >();
  #calls = 0;
  #stopped = false;

  constructor(port: MessagePort | Worker) {
    this.#port = port;
    port.on("message", ({ call, value, error }: Answer) => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (error === undefined) waiting?.resolve(value as never);
      else waiting?.reject(new Error(error));
    });
    const stopped = (): void => {
      this.#stopped = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(STOPPED));
      this.#waiting.clear();
    };
    // A port closes when the thread at its other end is gone.
    if (port instanceof Worker) port.once("exit", stopped);
    else port.once("close", stopped);
  }

  call<M extends Method>(
    method: M,
    ...args: Parameters<NonNullable<CellCompiler[M]>>
  ): Promise<Awaited2<M>> {
    if (this.#stopped) return Promise.reject(new Error(STOPPED));
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#port.postMessage({ call, method, args } satisfies CompilerCall);
    });
  }

  /** Tells without waiting. */
  tell<M extends Method>(method: M, ...args: Parameters<NonNullable<CellCompiler[M]>>): void {
    this.#port.postMessage({ call: 0, method, args } satisfies CompilerCall);
  }
}
