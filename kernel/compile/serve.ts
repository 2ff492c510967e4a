import type { CompilerCall } from "../contract/compiler-client.js";
import type { CellCompiler } from "../contract/compiler.js";
import type { Port } from "../contract/port.js";
import { log } from "../host/host.js";

/** Answers calls to a compiler: one at a time, in the order they come, from whichever port. */
export class CompilerService {
  readonly #compiler: Promise<CellCompiler>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(compiler: Promise<CellCompiler>) {
    this.#compiler = compiler;
  }

  call(port: Pick<Port, "postMessage">, call: CompilerCall): void {
    this.#turn = this.#turn.then(() => this.#answer(port, call));
  }

  async #answer(
    port: Pick<Port, "postMessage">,
    { call, method, args }: CompilerCall,
  ): Promise<void> {
    try {
      const target = (await this.#compiler) as CellCompiler &
        Record<string, (...args: unknown[]) => unknown>;
      const value = await (target[method] as ((...a: unknown[]) => unknown) | undefined)?.apply(
        target,
        args,
      );
      if (call !== 0) port.postMessage({ call, value });
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (call !== 0) port.postMessage({ call, error: text });
      else log(`The compiler failed in ${method}: ${text}`);
    }
  }
}
