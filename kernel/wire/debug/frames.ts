import type { Debugger, Runtime } from "node:inspector";
import { type CallFrame, type Paused, Refusal, type StackFrame } from "./protocol.js";
import type { Script, Scripts } from "./scripts.js";

/** Where the program stands: its functions, by the numbers a client names them by. */
export class Frames {
  readonly #scripts: Scripts;
  readonly #frames: { shown: StackFrame; call: CallFrame | undefined; script: Script }[] = [];

  private constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  /** `firstId`: numbers of another stop are not to be taken for these. */
  static async of(paused: Paused, scripts: Scripts, firstId: number): Promise<Frames> {
    const frames = new Frames(scripts);
    let id = firstId;
    for (const call of paused.callFrames) {
      await frames.#add(++id, call.location, call.functionName, "", call);
    }
    for (let trace = paused.asyncStackTrace; trace !== undefined; trace = trace.parent) {
      for (const frame of trace.callFrames)
        await frames.#add(++id, frame, frame.functionName, "async ");
    }
    return frames;
  }

  get list(): StackFrame[] {
    return this.#frames.map(({ shown }) => shown);
  }

  /** A function that still runs; that of the others only a place is known. */
  call(id: number | undefined): CallFrame {
    const frame = this.#find(id);
    if (frame === undefined)
      throw new Refusal(`Cannot look at frame ${id}: there is no such frame now`);
    if (frame.call !== undefined) return frame.call;
    throw new Refusal(
      `Cannot look into ${frame.shown.name}: it waits, and only its place is known`,
    );
  }

  waits(id: number): boolean {
    const frame = this.#find(id);
    return frame !== undefined && frame.call === undefined;
  }

  /** The file that code of a frame is in, where its names are not as it wrote them; undefined for others. */
  fileOf(id: number | undefined): string | undefined {
    const frame = this.#find(id);
    const { kind, isNodes, path } = frame?.script ?? {};
    return kind === "file" && isNodes === false ? path : undefined;
  }

  #find(id: number | undefined) {
    return id === undefined ? this.#frames[0] : this.#frames.find(({ shown }) => shown.id === id);
  }

  async #add(
    id: number,
    at: Debugger.Location | Runtime.CallFrame,
    functionName: string,
    how: string,
    call?: CallFrame,
  ): Promise<void> {
    const script = await this.#scripts.of(at.scriptId);
    const { lineNumber, columnNumber = 0 } = at;
    const place = script?.positions.toSource({ lineNumber, columnNumber });
    if (script === undefined || place === undefined) return;
    const isWhole = functionName === "" && call?.functionLocation?.lineNumber === 0;
    const inner = functionName === "" ? "(anonymous)" : functionName;
    const isOuter = isWhole || (call === undefined && functionName === "");
    const name = how + (isOuter && script.kind !== "library" ? script.name : inner);
    const shown: StackFrame = {
      id,
      name,
      ...place,
      source: { name: script.name, path: script.path },
      ...(script.kind === "library" && { presentationHint: "subtle" }),
    };
    this.#frames.push({ shown, call, script });
  }
}
