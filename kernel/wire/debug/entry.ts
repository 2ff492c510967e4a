import type { Debugger } from "node:inspector";
import type { MainInspector } from "../main-inspector.js";
import type { Paused } from "./protocol.js";
import type { Script } from "./scripts.js";

/** The stop at a cell's first line, for a pause that was asked for while nothing ran. */
export class Entry {
  readonly #inspector: MainInspector;
  /** V8's name for it. */
  #name: string | undefined;

  constructor(inspector: MainInspector) {
    this.#inspector = inspector;
  }

  /** False where a breakpoint is there anyway. */
  async set({ at, positions }: Script): Promise<boolean> {
    await this.remove();
    try {
      const { breakpointId } = await this.#inspector.post<Debugger.SetBreakpointByUrlReturnType>(
        "Debugger.setBreakpointByUrl",
        { ...at, ...positions.toScript(1) },
      );
      this.#name = breakpointId;
      return true;
    } catch {
      return false;
    }
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
