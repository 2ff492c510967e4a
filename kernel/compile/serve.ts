import type { CompilerCall } from "../contract/compiler-client.js";
import type { RunRequest } from "../contract/bridge.js";
import type { CellCompiler, CompiledCell, CompileRequest } from "../contract/compiler.js";
import type { Port } from "../contract/port.js";
import { log } from "../host/host.js";

/** Answers calls to a compiler: one at a time, in the order they come, from whichever port. */
export class CompilerService {
  readonly #compiler: Promise<CellCompiler>;
  readonly #main: Pick<Port, "postMessage"> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** `main`: where cells are handed to that are to run at once. */
  constructor(compiler: Promise<CellCompiler>, main?: Pick<Port, "postMessage">) {
    this.#compiler = compiler;
    this.#main = main;
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
      if (method === "compile" && this.#hand(args[0] as CompileRequest, value as CompiledCell))
        return;
      if (call !== 0) port.postMessage({ call, value });
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (call !== 0) port.postMessage({ call, error: text });
      else log(`The compiler failed in ${method}: ${text}`);
    }
  }

  /** Hands a cell to the thread that runs it, where nothing is left to be said of it: that says how it ended. */
  #hand(request: CompileRequest, compiled: CompiledCell): boolean {
    const { turn, id, count, filename, source, kind, cell: cellId } = request;
    if (turn === undefined || this.#main === undefined) return false;
    if (!("js" in compiled) || compiled.diagnostics.length > 0) return false;
    const { number, silent, allowStdin } = turn;
    const run: RunRequest = {
      ...{ type: "run", id, count, js: compiled.js, map: compiled.map, filename, source, kind },
      ...{ silent, allowStdin, cellId, turn: number },
    };
    this.#main.postMessage(run);
    return true;
  }
}
