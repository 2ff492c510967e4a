// The debugger: Jupyter's protocol on one side (the Debug Adapter Protocol in debug_request and
// debug_event), V8's inspector on the other. While nobody has attached, V8 knows nothing of it.
import type { Debugger } from "node:inspector";
import type { RunRequest } from "../../contract/bridge.js";
import type { CompilerClient } from "../../contract/compiler-client.js";
import type { MainInspector } from "../main-inspector.js";
import { Breakpoints } from "./breakpoints.js";
import { capabilities } from "./capabilities.js";
import { CellFiles } from "./cell-files.js";
import { errorInfo, isError } from "./errors.js";
import { Frames } from "./frames.js";
import { type Json, type Paused, Refusal, type SourceBreakpoint } from "./protocol.js";
import { hiddenPatterns, Scripts } from "./scripts.js";
import { readSource } from "./sources.js";
import { Stepping, type Step } from "./stepping.js";
import { Target } from "./target.js";
import { tellCompiler } from "./tell-compiler.js";
import { Values } from "./values.js";

export interface AdapterParts {
  inspector: MainInspector;
  compiler: CompilerClient;
  language: "typescript" | "javascript";
  publish: (event: Json) => void;
  /** Tells the thread that runs cells that a file may run. */
  answer: (question: number) => void;
  isRunning: () => boolean;
}

/** There is one thread that runs cells. */
const threadId = 1;
/** How many callers to remember across `await`. */
const ASYNC_DEPTH = 32;
/** Milliseconds to wait for what looks at values; a thread that computes loads nothing. */
const LOADING = 2000;

/** Milliseconds until a pause is asked for again. */
const AGAIN = 100;

/** JupyterLab reads a refusal as an answer: where the program has gone on meanwhile there is nothing. */
const nothing: Record<string, Json> = {
  stackTrace: { stackFrames: [], totalFrames: 0 },
  scopes: { scopes: [] },
  variables: { variables: [] },
};

type Handler = (args: Json) => Json | undefined | Promise<Json | undefined>;

export class DebugAdapter {
  readonly #parts: AdapterParts;
  readonly #cells: CellFiles;
  readonly #target: Target;
  readonly #scripts: Scripts;
  readonly #breakpoints: Breakpoints;
  readonly #stepping: Stepping;
  readonly #values: Values;
  #isOn = false;
  #stop: { paused: Paused; frames: Frames } | undefined;
  #frameIds = 0;
  #seq = 0;
  #isPausing = false;
  #isInterrupting = false;
  #isEvaluating = false;
  /** V8's name for the breakpoint at a cell's first line. */
  #entry: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #loading: Promise<void> | undefined;

  constructor(parts: AdapterParts) {
    const { inspector, compiler, language } = parts;
    this.#parts = parts;
    this.#cells = new CellFiles(language === "typescript" ? ".ts" : ".js");
    this.#target = new Target(inspector);
    this.#scripts = new Scripts(inspector, this.#target, this.#cells);
    this.#breakpoints = new Breakpoints(inspector, compiler, this.#scripts);
    this.#stepping = new Stepping(inspector, this.#scripts);
    this.#values = new Values(inspector, compiler, this.#target);
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Answers a request; one after the other, in the order they came. */
  async request(content: Json): Promise<Json> {
    const answering = this.#turn.then(() => this.#answer(content));
    this.#turn = answering;
    return await answering;
  }

  /** Before a cell runs: its breakpoints are set. */
  async beforeRun({ filename, source, js, map, kind }: RunRequest): Promise<void> {
    if (!this.#isOn) return;
    const script = this.#scripts.cell(filename, source, js, map);
    await this.#breakpoints.apply(script);
    if (!this.#isPausing || kind !== "cell") return;
    const place = script.positions.toScript(1);
    try {
      const { breakpointId } = await this.#post<Debugger.SetBreakpointByUrlReturnType>(
        "setBreakpointByUrl",
        { url: filename, ...place },
      );
      this.#entry = breakpointId;
    } catch {
      this.#isPausing = false; // it has a breakpoint there anyway
    }
  }

  /** Before an imported file runs. */
  async beforeFile(url: string, question: number): Promise<void> {
    try {
      if (this.#isOn) await this.#breakpoints.apply(await this.#scripts.file(url));
    } finally {
      this.#parts.answer(question);
    }
  }

  output(text: string): void {
    this.#event("output", { category: "console", output: text });
  }

  /** An interrupt is to find the thread running, and is no error to stop at. */
  async interrupting(): Promise<void> {
    if (!this.#isOn) return;
    this.#isInterrupting = true;
    this.#stepping.stop();
    this.#isPausing = false;
    const skipping = this.#post("setSkipAllPauses", { skip: true });
    if (this.#isEvaluating) void this.#parts.inspector.post("Runtime.terminateExecution");
    if (this.#stop !== undefined) void this.#post("resume").catch(() => undefined);
    await skipping;
  }

  async interrupted(): Promise<void> {
    if (!this.#isInterrupting) return;
    this.#isInterrupting = false;
    await this.#post("setSkipAllPauses", { skip: false });
  }

  close(): void {
    this.#cells.close();
  }

  async #answer(content: Json): Promise<Json> {
    const command = String(content["command"] ?? "");
    const given = content["arguments"];
    const args = typeof given === "object" && given !== null ? (given as Json) : {};
    const answer = { type: "response", request_seq: Number(content["seq"] ?? 0), command };
    this.#load();
    try {
      const handler = Object.hasOwn(this.#handlers, command) ? this.#handlers[command] : undefined;
      if (handler === undefined)
        throw new Refusal(`Cannot ${command}: this debugger does not know it`);
      const body = await handler(args);
      return { ...answer, seq: ++this.#seq, success: true, body: body ?? {} };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const body = { ...nothing[command], error: { id: 1, format: message, showUser: true } };
      return { ...answer, seq: ++this.#seq, success: false, message, body };
    }
  }

  readonly #handlers: Record<string, Handler> = {
    initialize: ({ clientID }) => {
      this.#values.showsTypes = clientID !== "jupyterlab";
      return capabilities;
    },
    attach: () => this.#attach(),
    launch: () => this.#attach(),
    disconnect: () => this.#detach(),
    terminate: () => this.#detach(),
    configurationDone: () => undefined,
    debugInfo: () => this.#info(),
    dumpCell: ({ code }) => ({ sourcePath: this.#cells.dump(String(code ?? "")) }),
    setBreakpoints: (args) => this.#setBreakpoints(args),
    setFunctionBreakpoints: () => ({ breakpoints: [] }),
    setExceptionBreakpoints: (args) => this.#setExceptionBreakpoints(args),
    exceptionInfo: () => errorInfo(this.#standing.paused),
    threads: () => ({ threads: [{ id: threadId, name: "cells" }] }),
    stackTrace: ({ startFrame, levels }) => {
      const frames = this.#standing.frames.list;
      const from = Number(startFrame ?? 0);
      const end = Number(levels ?? 0) > 0 ? from + Number(levels) : undefined;
      return { stackFrames: frames.slice(from, end), totalFrames: frames.length };
    },
    scopes: ({ frameId }) => {
      const { frames } = this.#standing;
      if (frames.waits(Number(frameId))) return { scopes: [] };
      return { scopes: this.#values.scopes(frames.call(Number(frameId))) };
    },
    variables: async (args) => ({ variables: await this.#values.variables(args) }),
    setVariable: async (args) => ({ ...(await this.#values.set(args, this.#stop?.frames)) }),
    evaluate: (args) => this.#evaluate(args),
    continue: async () => {
      void this.#standing;
      await this.#post("resume");
      return { allThreadsContinued: true };
    },
    next: () => this.#step("next"),
    stepIn: () => this.#step("stepIn"),
    stepOut: () => this.#step("stepOut"),
    pause: () => this.#pause(),
    source: async (args) => {
      const source = (args["source"] ?? {}) as { path?: unknown };
      return readSource(String(source.path ?? ""), this.#cells, await this.#files("with ours"));
    },
    modules: async ({ startModule, moduleCount }) => {
      const files = await this.#files();
      const from = Number(startModule ?? 0);
      const end = Number(moduleCount ?? 0) > 0 ? from + Number(moduleCount) : undefined;
      const modules = files.map((path) => ({ id: path, name: path.split(/[\\/]/).at(-1), path }));
      return { modules: modules.slice(from, end), totalModules: files.length };
    },
    inspectVariables: async () => ({ variables: await this.#values.session() }),
    richInspectVariables: async ({ variableName, frameId }) => {
      const frame = frameId === undefined || frameId === null ? undefined : Number(frameId);
      const frames = this.#stop?.frames;
      const value = await this.#find(String(variableName), frame, "repl");
      return { data: await this.#values.rich(value, frames === undefined), metadata: {} };
    },
    copyToGlobals: (args) => this.#copyToGlobals(args),
  };

  get #standing(): { paused: Paused; frames: Frames } {
    if (this.#stop !== undefined) return this.#stop;
    throw new Refusal("Cannot do that now: the program is running, or has ended");
  }

  /** Loads what looks at values as soon as the other thread has time. */
  #load(): void {
    this.#loading ??= this.#target.wait("load").then(
      () => undefined,
      () => (this.#loading = undefined),
    );
  }

  async #attach(): Promise<undefined> {
    if (!this.#isOn) {
      const { inspector } = this.#parts;
      inspector.on<Debugger.ScriptParsedEventDataType>("Debugger.scriptParsed", (script) => {
        if (this.#scripts.parsed(script)) void this.#parsed(script.scriptId);
      });
      inspector.on<Paused>("Debugger.paused", (paused) => void this.#paused(paused));
      inspector.on("Debugger.resumed", () => void this.#resumed());
      const late = new Promise<void>((done) => setTimeout(done, LOADING).unref());
      await Promise.race([this.#loading, late]);
      await this.#post("enable");
      await this.#post("setAsyncCallStackDepth", { maxDepth: ASYNC_DEPTH });
      await this.#post("setBlackboxPatterns", { patterns: hiddenPatterns });
      await this.#target.call("turn", { value: true }, { value: false });
      this.#isOn = this.#breakpoints.isOn = true;
      await this.#breakpoints.applyAll();
    }
    this.#event("initialized", {});
    return undefined;
  }

  async #detach(): Promise<undefined> {
    if (!this.#isOn) {
      await this.#breakpoints.clear();
      return undefined;
    }
    await this.#breakpoints.clear();
    await this.#removeEntry();
    this.#isOn = this.#breakpoints.isOn = this.#isPausing = false;
    this.#stepping.stop();
    await this.#post("setPauseOnExceptions", { state: "none" });
    await this.#target.call("turn", { value: false }, { value: false });
    await this.#values.close();
    // A program that stands goes on.
    await this.#post("disable");
    if (this.#stop !== undefined) await this.#resumed();
    for (const event of ["scriptParsed", "paused", "resumed"]) {
      this.#parts.inspector.off(`Debugger.${event}`);
    }
    this.#scripts.clear();
    return undefined;
  }

  #info(): Json {
    return {
      isStarted: this.#isOn,
      ...this.#cells.hash,
      tmpFilePrefix: this.#cells.prefix,
      tmpFileSuffix: this.#cells.suffix,
      breakpoints: this.#breakpoints.list(),
      stoppedThreads: this.#stop === undefined ? [] : [threadId],
      richRendering: true,
      copyToGlobals: true,
      exceptionPaths: [],
    };
  }

  async #setBreakpoints({ source, breakpoints, lines }: Json): Promise<Json> {
    const { path } = (source ?? {}) as { path?: unknown };
    if (typeof path !== "string" || path === "") {
      throw new Refusal("Cannot set breakpoints: source.path must be given");
    }
    const given = (breakpoints ??
      ((lines ?? []) as number[]).map((line) => ({ line }))) as SourceBreakpoint[];
    if (!given.every(({ line }) => Number.isInteger(line) && line > 0)) {
      throw new Refusal("Cannot set breakpoints: each must have a line, counted from 1");
    }
    return { breakpoints: await this.#breakpoints.replace(path, given) };
  }

  async #setExceptionBreakpoints({ filters }: Json): Promise<undefined> {
    const on = Array.isArray(filters) ? (filters as unknown[]) : [];
    const state = on.includes("all") ? "all" : on.includes("uncaught") ? "uncaught" : "none";
    if (!this.#isOn) throw new Refusal("Cannot stop at errors: attach comes first");
    await this.#post("setPauseOnExceptions", { state });
    await this.#target.call("turn", { value: true }, { value: state !== "none" });
    return undefined;
  }

  async #evaluate({ expression, frameId, context }: Json): Promise<Json> {
    const frame = frameId === undefined || frameId === null ? undefined : Number(frameId);
    const found = await this.#find(String(expression ?? ""), frame, String(context ?? "repl"));
    const { value, ...rest } = await this.#values.show(found, "", this.#stop !== undefined);
    return { ...rest, result: value };
  }

  async #find(text: string, frameId: number | undefined, context: string) {
    this.#isEvaluating = true;
    try {
      return await this.#values.evaluate(text, this.#stop?.frames, frameId, context);
    } finally {
      this.#isEvaluating = false;
    }
  }

  async #step(step: Step): Promise<undefined> {
    const { paused } = this.#standing;
    const visible = paused.callFrames.find((frame) => this.#scripts.shows(frame));
    await this.#stepping.begin(step, visible);
    return undefined;
  }

  async #pause(): Promise<undefined> {
    if (!this.#isOn) throw new Refusal("Cannot pause: attach comes first");
    if (this.#stop !== undefined) return undefined;
    this.#isPausing = true;
    // Where nothing runs, the next cell is stopped at its first line.
    if (this.#parts.isRunning()) await this.#insist();
    return undefined;
  }

  /** V8 forgets a pause that comes while the thread is in native code: it is asked for until it is there. */
  async #insist(): Promise<void> {
    if (!this.#isPausing || !this.#isOn || this.#stop !== undefined) return;
    await this.#post("pause");
    setTimeout(() => void this.#insist(), AGAIN).unref();
  }

  async #copyToGlobals({ srcVariableName, dstVariableName, srcFrameId }: Json): Promise<undefined> {
    const name = String(dstVariableName);
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) {
      throw new Refusal(`Cannot copy to ${name}: it must be a name`);
    }
    const frame = Number(srcFrameId ?? this.#standing.frames.list[0]?.id);
    const value = await this.#find(String(srcVariableName), frame, "repl");
    await this.#values.declare(name, value);
    await tellCompiler(this.#parts, name);
    return undefined;
  }

  /** Files that cells have imported, and others of the user's that have run. */
  async #files(which: "own" | "with ours" = "own"): Promise<string[]> {
    const scripts = this.#isOn ? await this.#scripts.all() : [];
    const own = scripts
      .filter(({ kind }) => kind === "file" || (kind === "library" && which !== "own"))
      .map(({ path }) => path);
    return [...new Set([...(await this.#target.call<string[]>("files")), ...own])];
  }

  /** A file that Node has loaded by itself, a reward say: as soon as it is known. */
  async #parsed(scriptId: string): Promise<void> {
    if (this.#breakpoints.isEmpty) return;
    const script = await this.#scripts.of(scriptId);
    if (script?.kind === "file") await this.#breakpoints.apply(script);
  }

  async #paused(paused: Paused): Promise<void> {
    const { reason, hitBreakpoints = [], callFrames } = paused;
    const goOn = async (): Promise<void> => void (await this.#post("resume"));
    if (this.#isInterrupting) return goOn();
    const atError = isError(reason);
    if (this.#stepping.isGoing && hitBreakpoints.length === 0 && !atError) {
      if (!(await this.#stepping.arrived(paused))) return;
      return this.#stand(paused, "step");
    }
    const [top] = callFrames;
    if (atError && (top === undefined || !this.#scripts.shows(top))) return goOn();
    const isEntry = this.#entry !== undefined && hitBreakpoints.includes(this.#entry);
    if (atError) return this.#stand(paused, "exception");
    if (hitBreakpoints.length > 0 && !isEntry) return this.#stand(paused, "breakpoint");
    return this.#stand(paused, this.#isPausing ? "pause" : "breakpoint");
  }

  async #stand(paused: Paused, reason: string): Promise<void> {
    const frames = await Frames.of(paused, this.#scripts, this.#frameIds);
    this.#frameIds += paused.callFrames.length + 1000;
    if (frames.list.length === 0) {
      // Between two turns of what the cell does: it is asked for again.
      await this.#post("resume");
      return;
    }
    // Only now: a stop between two turns must not take the next cell's first line away.
    await this.#removeEntry();
    this.#stepping.stop();
    this.#isPausing = false;
    this.#stop = { paused, frames };
    const { description } = (paused.data ?? {}) as { description?: string };
    const text = reason === "exception" ? description?.split("\n    at ")[0] : undefined;
    this.#event("stopped", {
      reason,
      threadId,
      allThreadsStopped: true,
      preserveFocusHint: false,
      hitBreakpointIds: this.#breakpoints.hit(paused.hitBreakpoints ?? []),
      ...(text !== undefined && { text, description: text }),
    });
  }

  async #resumed(): Promise<void> {
    if (this.#stop === undefined) return;
    this.#stop = undefined;
    this.#event("continued", { threadId, allThreadsContinued: true });
    await this.#values.goOn();
  }

  async #removeEntry(): Promise<void> {
    const breakpointId = this.#entry;
    this.#entry = undefined;
    if (breakpointId !== undefined) await this.#post("removeBreakpoint", { breakpointId });
  }

  #event(event: string, body: Json): void {
    this.#parts.publish({ type: "event", seq: ++this.#seq, event, body });
  }

  async #post<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return await this.#parts.inspector.post<Result>(`Debugger.${method}`, params);
  }
}
