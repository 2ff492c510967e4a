import type { RunRequest } from "../../contract/bridge.js";
import type { CompilerClient } from "../../contract/compiler-client.js";
import { currentFolder } from "../process/folders.js";
import type { MainInspector } from "../process/main-inspector.js";
import { Arrivals } from "./arrivals.js";
import { Breakpoints } from "./breakpoints.js";
import { CellFiles } from "./cell-files.js";
import { errorInfo, type Json, Refusal, type SourceBreakpoint } from "./protocol.js";
import { hiddenPatterns, Scripts } from "./scripts.js";
import { type Step, Stepping } from "./stepping.js";
import { Stops, threadId } from "./stops.js";
import { Target } from "./target.js";
import { Values } from "./values.js";
import { readFileSync } from "node:fs";
import type { Debugger } from "node:inspector";

const exceptionBreakpointFilters = [
  { filter: "uncaught", label: "Uncaught errors", default: false },
  { filter: "all", label: "All errors", default: false },
];

/** What the debugger says of itself. */
export const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsEvaluateForHovers: true,
  supportsSetVariable: true,
  supportsExceptionInfoRequest: true,
  supportsModulesRequest: true,
  supportsDelayedStackTraceLoading: true,
  exceptionBreakpointFilters,
};

/** The text of a cell, or of a file that has run. */
export function readSource(path: string, cells: CellFiles, files: readonly string[]): Json {
  const mimeType = /\.[cm]?ts$/.test(path) ? "text/typescript" : "text/javascript";
  const content = cells.textOf(path);
  if (content !== undefined) return { content, mimeType };
  if (!files.includes(path)) {
    throw new Refusal(`Cannot read ${path}: it must be a cell, or a file that has run`);
  }
  return { content: readFileSync(path, "utf8"), mimeType };
}

let told = 0;

/**
 * Cells are checked against what the compiler knows: of a variable that no cell has declared it is told by
 * a cell of its own, which never runs.
 */
export async function tellCompiler(
  { compiler, language }: { compiler: CompilerClient; language: "typescript" | "javascript" },
  name: string,
): Promise<void> {
  const id = `debugger/${++told}`;
  const source = `let ${name}${language === "typescript" ? ": any" : ""};`;
  const filename = `debugger-${told}`;
  const folder = currentFolder();
  await compiler.call("compile", { id, count: 0, source, filename, folder, kind: "cell" });
  compiler.tell("settled", id, "ok", { defined: [name], assigned: [] });
}

// The debugger: Jupyter's protocol on one side (the Debug Adapter Protocol in debug_request and
// debug_event), V8's inspector on the other. While nobody has attached, V8 knows nothing of it.

export interface AdapterParts {
  inspector: MainInspector;
  compiler: CompilerClient;
  language: "typescript" | "javascript";
  publish: (event: Json) => void;
  isRunning: () => boolean;
}

/** How many callers to remember across `await`. */
const ASYNC_DEPTH = 32;
/** Milliseconds to wait for what looks at values; a thread that computes loads nothing. */
const LOADING = 2000;

/** JupyterLab reads a refusal as an answer: where the program has gone on meanwhile there is nothing. */
const nothing: Record<string, Json> = {
  stackTrace: { stackFrames: [], totalFrames: 0 },
  scopes: { scopes: [] },
  variables: { variables: [] },
  inspectVariables: { variables: [] },
  modules: { modules: [], totalModules: 0 },
};

type Handler = (args: Json) => Json | undefined | Promise<Json | undefined>;

export class DebugAdapter {
  readonly #parts: AdapterParts;
  readonly #cells: CellFiles;
  readonly #target: Target;
  readonly #scripts: Scripts;
  readonly #breakpoints: Breakpoints;
  readonly #arrivals: Arrivals;
  readonly #stops: Stops;
  readonly #values: Values;
  #isOn = false;
  #seq = 0;
  /** Settles when what a client has evaluated has ended. */
  #evaluating: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #loading: Promise<void> | undefined;

  constructor(parts: AdapterParts) {
    const { inspector, compiler, language } = parts;
    this.#parts = parts;
    this.#cells = new CellFiles(language === "typescript" ? ".ts" : ".js");
    this.#target = new Target(inspector);
    this.#scripts = new Scripts(inspector, this.#target, this.#cells);
    this.#breakpoints = new Breakpoints(inspector, compiler, this.#scripts);
    this.#arrivals = new Arrivals(inspector, this.#cells, this.#scripts, this.#breakpoints);
    this.#values = new Values(inspector, compiler, this.#target);
    this.#stops = new Stops({
      inspector,
      scripts: this.#scripts,
      breakpoints: this.#breakpoints,
      arrivals: this.#arrivals,
      stepping: new Stepping(inspector, this.#scripts),
      isRunning: parts.isRunning,
      tell: (event, body) => this.#event(event, body),
      over: () => this.#values.goOn(),
    });
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
    if (kind === "cell") await this.#stops.beforeRun(script);
  }

  afterRun(): void {
    this.#stops.afterRun();
  }

  output(text: string): void {
    this.#event("output", { category: "console", output: text });
  }

  async interrupting(): Promise<void> {
    // What is evaluated at a stop ends first: V8 does not end a thread that goes on meanwhile.
    if (this.#evaluating !== undefined) {
      void this.#parts.inspector.post("Runtime.terminateExecution").catch(() => undefined);
      await this.#evaluating;
    }
    await this.#stops.interrupting();
  }

  async interrupted(): Promise<void> {
    await this.#stops.interrupted();
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
    exceptionInfo: () => errorInfo(this.#stops.standing.paused),
    threads: () => ({ threads: [{ id: threadId, name: "cells" }] }),
    stackTrace: ({ startFrame, levels }) => {
      const frames = this.#stops.standing.frames.list;
      const from = Number(startFrame ?? 0);
      const end = Number(levels ?? 0) > 0 ? from + Number(levels) : undefined;
      return { stackFrames: frames.slice(from, end), totalFrames: frames.length };
    },
    scopes: ({ frameId }) => {
      const { frames } = this.#stops.standing;
      if (frames.waits(Number(frameId))) return { scopes: [] };
      return { scopes: this.#values.scopes(frames.call(Number(frameId))) };
    },
    variables: async (args) => ({ variables: await this.#values.variables(args) }),
    setVariable: async (args) => ({
      ...(await this.#values.set(args, this.#stops.current?.frames)),
    }),
    evaluate: (args) => this.#evaluate(args),
    continue: async () => {
      await this.#stops.continue();
      return { allThreadsContinued: true };
    },
    next: () => this.#step("next"),
    stepIn: () => this.#step("stepIn"),
    stepOut: () => this.#step("stepOut"),
    pause: async () => {
      await this.#stops.pause();
      return undefined;
    },
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
      const frames = this.#stops.current?.frames;
      const value = await this.#find(String(variableName), frame, "repl");
      return { data: await this.#values.rich(value, frames === undefined), metadata: {} };
    },
    copyToGlobals: (args) => this.#copyToGlobals(args),
  };

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
        this.#scripts.parsed(script);
      });
      this.#stops.begin();
      const late = new Promise<void>((done) => setTimeout(done, LOADING).unref());
      await Promise.race([this.#loading, late]);
      await this.#post("enable");
      await this.#post("setAsyncCallStackDepth", { maxDepth: ASYNC_DEPTH });
      await this.#post("setBlackboxPatterns", { patterns: hiddenPatterns });
      await this.#target.call("turn", { value: false });
      this.#isOn = this.#breakpoints.isOn = true;
      await this.#breakpoints.applyAll();
      await this.#arrivals.follow();
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
    await this.#arrivals.follow();
    await this.#stops.leave();
    this.#isOn = this.#breakpoints.isOn = false;
    await this.#post("setPauseOnExceptions", { state: "none" });
    await this.#target.call("turn", { value: false });
    await this.#values.close();
    // A program that stands continues.
    await this.#post("disable");
    await this.#stops.end();
    this.#parts.inspector.off("Debugger.scriptParsed");
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
      stoppedThreads: this.#stops.current === undefined ? [] : [threadId],
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
    const set = await this.#breakpoints.replace(path, given);
    await this.#arrivals.follow();
    return { breakpoints: set };
  }

  async #setExceptionBreakpoints({ filters }: Json): Promise<undefined> {
    const on = Array.isArray(filters) ? (filters as unknown[]) : [];
    const state = on.includes("all") ? "all" : on.includes("uncaught") ? "uncaught" : "none";
    if (!this.#isOn) throw new Refusal("Cannot stop at errors: attach comes first");
    await this.#post("setPauseOnExceptions", { state });
    await this.#target.call("turn", { value: state !== "none" });
    return undefined;
  }

  async #evaluate({ expression, frameId, context }: Json): Promise<Json> {
    const frame = frameId === undefined || frameId === null ? undefined : Number(frameId);
    const found = await this.#find(String(expression ?? ""), frame, String(context ?? "repl"));
    const { value, ...rest } = await this.#values.show(
      found,
      "",
      this.#stops.current !== undefined,
    );
    return { ...rest, result: value };
  }

  async #find(text: string, frameId: number | undefined, context: string) {
    const frames = this.#stops.current?.frames;
    const finding = this.#values.evaluate(text, frames, frameId, context);
    const ended = finding.then(
      () => undefined,
      () => undefined,
    );
    this.#evaluating = ended;
    try {
      return await finding;
    } finally {
      this.#evaluating = undefined;
    }
  }

  async #step(step: Step): Promise<undefined> {
    await this.#stops.step(step);
    return undefined;
  }

  async #copyToGlobals({ srcVariableName, dstVariableName, srcFrameId }: Json): Promise<undefined> {
    const name = String(dstVariableName);
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) {
      throw new Refusal(`Cannot copy to ${name}: it must be a name`);
    }
    const frame = Number(srcFrameId ?? this.#stops.standing.frames.list[0]?.id);
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

  #event(event: string, body: Json): void {
    this.#parts.publish({ type: "event", seq: ++this.#seq, event, body });
  }

  async #post<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return await this.#parts.inspector.post<Result>(`Debugger.${method}`, params);
  }
}
