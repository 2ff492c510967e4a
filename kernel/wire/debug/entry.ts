import type { Debugger } from "node:inspector";
import type { MainInspector } from "../main-inspector.js";
import type { Paused } from "./protocol.js";
import type { Script } from "./scripts.js";

/** A cell's code stands in a function that begins so: this is the place behind it. */
const inside = { lineNumber: 0, columnNumber: "(async (__scope) => {".length };

/**
 * The stop before a cell's first line, for a pause that was asked for while nothing ran. In what the kernel
 * has put there: next to line 1 there may be a function's line, or a loop's head at which V8 stops nowhere.
 */
export class Entry {
  readonly #inspector: MainInspector;
  /** V8's name for it. */
  #name: string | undefined;

  constructor(inspector: MainInspector) {
    this.#inspector = inspector;
  }

  async set({ at }: Script): Promise<void> {
    await this.remove();
    const { breakpointId } = await this.#inspector.post<Debugger.SetBreakpointByUrlReturnType>(
      "Debugger.setBreakpointByUrl",
      { ...at, ...inside },
    );
    this.#name = breakpointId;
  }

  isAt({ hitBreakpoints = [] }: Paused): boolean {
    return this.#name !== undefined && hitBreakpoints.includes(this.#name);
  }

  async remove(): Promise<void> {
    const breakpointId = this.#name;
    this.#name = undefined;
    if (breakpointId !== undefined) {
      await this.#inspector.post("Debugger.removeBreakpoint", { breakpointId });
    }
  }
}
