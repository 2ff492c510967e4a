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
/** Milliseconds that what nobody waits for may be kept back. */
const SOON = 20;
const STOPPED = "the compiler's thread has stopped; restart the kernel";

/** The compiler as seen from another thread. */
export class CompilerClient {
  readonly #port: Port;
  // No Map: a cell may have replaced its methods, and wait for a module that it imports.
  #waiting: Record<number, { resolve: (value: never) => void; reject: (e: Error) => void }> = {};
  #calls = 0;
  #stopped = false;
  readonly #soon: CompilerCall[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

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
    return this.ask(method, ...args).answer;
  }

  /** A call whose answer may be learned elsewhere: after `drop` nobody waits for it. */
  ask<M extends Method>(
    method: M,
    ...args: Parameters<NonNullable<CellCompiler[M]>>
  ): { answer: Promise<Awaited2<M>>; drop: () => void } {
    const call = ++this.#calls;
    const answer = new Promise<Awaited2<M>>((resolve, reject) => {
      if (this.#stopped) return void reject(new Error(STOPPED));
      this.#waiting[call] = { resolve, reject };
      this.#post({ call, method, args });
    });
    return { answer, drop: () => deleteProperty(this.#waiting, call) };
  }

  /** Tells without waiting. */
  tell<M extends Method>(method: M, ...args: Parameters<NonNullable<CellCompiler[M]>>): void {
    this.#post({ call: 0, method, args });
  }

  /** Tells before anything else is said, or soon: each message by itself wakes the compiler's thread. */
  tellSoon<M extends Method>(method: M, ...args: Parameters<NonNullable<CellCompiler[M]>>): void {
    this.#soon.push({ call: 0, method, args });
    this.#timer ??= setTimeout(() => this.#flush(), SOON);
  }

  #post(call: CompilerCall): void {
    this.#flush();
    this.#port.postMessage(call);
  }

  #flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const call of this.#soon.splice(0)) this.#port.postMessage(call);
  }
}
