import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { hideDebugger, showDebugger } from "./hidden.js";
import type { StandingValue, StandingValues } from "../values/standing.js";

/** Where a cell stands: the line that runs next, and what has a value there. */
interface Standing {
  line: number;
  values: StandingValues;
}

interface Frame {
  id: number;
  line: number;
  source?: { path?: string };
}

interface Scope {
  name: string;
  variablesReference: number;
}

interface Answer {
  success: boolean;
  message?: string;
  body?: Record<string, unknown>;
}

let seq = 0;

/** Milliseconds to wait for a kernel that is busy with something short: a request of the page itself, say. */
const PATIENCE = 3000;

async function becomesIdle(kernel: Kernel.IKernelConnection): Promise<boolean> {
  if (kernel.status === "idle") return true;
  return await new Promise<boolean>((answer) => {
    const done = (isIdle: boolean): void => {
      kernel.statusChanged.disconnect(changed);
      clearTimeout(late);
      answer(isIdle);
    };
    const changed = (_: unknown, status: string): void => {
      if (status === "idle") done(true);
    };
    const late = setTimeout(() => done(false), PATIENCE);
    kernel.statusChanged.connect(changed);
  });
}

/** One run of one cell, line by line, over the debugger's protocol. */
export class LineSession {
  readonly #kernel: Kernel.IKernelConnection;
  readonly #changed: (standing: Standing | undefined) => void;
  #path = "";
  #isOurs = false;
  #isOver = false;
  /** Which stop it is, or which way between two: what was asked at another is not told. */
  #moment = 0;

  /** `changed` is told each line that is stood at, and undefined when the cell goes on or has ended. */
  constructor(kernel: Kernel.IKernelConnection, changed: (standing: Standing | undefined) => void) {
    this.#kernel = kernel;
    this.#changed = changed;
    kernel.iopubMessage.connect(this.#heard, this);
    kernel.statusChanged.connect(this.#status, this);
  }

  /** Makes ready: the next cell that runs, which must be this code, stands at its first line. */
  async begin(code: string): Promise<void> {
    const { supported_features: features = [] } = await this.#kernel.info;
    if (!features.includes("debugger")) {
      throw new Error("Cannot run by line: this notebook's kernel has no debugger");
    }
    if (!(await becomesIdle(this.#kernel))) {
      throw new Error("Cannot run by line: a cell is running. Try again when it has ended");
    }
    const { isStarted } = await this.#ask("debugInfo");
    // One that a person has started is theirs to end.
    this.#isOurs = isStarted !== true;
    if (this.#isOurs) {
      hideDebugger(this.#kernel.id, () => (this.#isOurs = false));
      await this.#ask("initialize", { clientID: "jupyterlab", linesStartAt1: true });
      await this.#ask("attach");
    }
    const { sourcePath } = await this.#ask("dumpCell", { code });
    this.#path = String(sourcePath);
    await this.#ask("pause", { threadId: 1 });
  }

  async next(): Promise<void> {
    await this.#ask("next", { threadId: 1 });
  }

  async continue(): Promise<void> {
    await this.#ask("continue", { threadId: 1 });
  }

  /** The cell has ended, or is to run on by itself. */
  async end(): Promise<void> {
    if (!this.#close() || !this.#isOurs) return;
    try {
      await this.#ask("disconnect", { restart: false, terminateDebuggee: false });
    } finally {
      showDebugger(this.#kernel.id);
    }
  }

  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#kernel.iopubMessage.disconnect(this.#heard, this);
    this.#kernel.statusChanged.disconnect(this.#status, this);
    this.#changed(undefined);
    return true;
  }

  #heard(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    if ((message.header.msg_type as string) !== "debug_event") return;
    const { event } = message.content as { event?: string };
    if (event !== "stopped" && event !== "continued") return;
    const moment = ++this.#moment;
    if (event === "continued") this.#changed(undefined);
    // Where it has gone on meanwhile there is nothing to look at.
    else void this.#look(moment).catch(() => undefined);
  }

  /** A kernel that is started again knows nothing of us. */
  #status(_: Kernel.IKernelConnection, status: string): void {
    if (!["restarting", "autorestarting", "dead"].includes(status)) return;
    this.#close();
    showDebugger(this.#kernel.id);
  }

  async #look(moment: number): Promise<void> {
    const { stackFrames } = await this.#ask("stackTrace", { threadId: 1 });
    // A breakpoint may have stopped a function elsewhere, which the cell has called.
    const frame = (stackFrames as Frame[]).find(({ source }) => source?.path === this.#path);
    if (frame === undefined) return;
    const { id: frameId, line } = frame;
    const list = await this.#values(frameId);
    if (this.#isOver || moment !== this.#moment) return;
    this.#changed({ line, values: { list, show: (name) => this.#show(name, frameId) } });
  }

  async #values(frameId: number): Promise<StandingValue[]> {
    const { scopes } = await this.#ask("scopes", { frameId });
    const found = new Map<string, StandingValue>();
    for (const { name: scope, variablesReference } of scopes as Scope[]) {
      const { variables } = await this.#ask("variables", { variablesReference });
      for (const { name, value } of variables as { name: string; value: string }[]) {
        const isHere = scope !== "Session";
        if (!found.has(name)) found.set(name, { name, value, isHere });
      }
    }
    return [...found.values()];
  }

  /** A value as a cell would show it. */
  async #show(variableName: string, frameId: number): Promise<Record<string, unknown>> {
    const { data } = await this.#ask("richInspectVariables", { variableName, frameId });
    return data as Record<string, unknown>;
  }

  async #ask(command: string, args: object = {}): Promise<Record<string, unknown>> {
    const future = this.#kernel.requestDebug({
      type: "request",
      seq: ++seq,
      command,
      arguments: args,
    });
    const { content } = (await future.done) as unknown as { content: Answer };
    if (!content.success) throw new Error(content.message ?? `The debugger refuses ${command}`);
    return content.body ?? {};
  }
}
