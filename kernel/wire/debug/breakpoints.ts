import type { Debugger } from "node:inspector";
import { DEBUG_TARGET, type BreakpointRule } from "../../contract/debug.js";
import type { CompilerClient } from "../../contract/compiler-client.js";
import type { MainInspector } from "../process/main-inspector.js";
import { type Breakpoint, Refusal, type SourceBreakpoint } from "./protocol.js";
import type { ScriptPlace } from "./positions.js";
import type { Script, Scripts } from "./scripts.js";

interface Wanted {
  shown: Breakpoint;
  given: SourceBreakpoint;
  /** V8's names for it, by script. */
  set: Map<string, string>;
}

/** Breakpoints by source, whether or not there is a script of it yet. */
export class Breakpoints {
  readonly #inspector: MainInspector;
  readonly #compiler: CompilerClient;
  readonly #scripts: Scripts;
  readonly #byPath = new Map<string, Wanted[]>();
  #ids = 0;
  /** Whether V8 takes breakpoints. */
  isOn = false;

  constructor(inspector: MainInspector, compiler: CompilerClient, scripts: Scripts) {
    this.#inspector = inspector;
    this.#compiler = compiler;
    this.#scripts = scripts;
  }

  /** Whether a source has any. */
  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  /** The sources that have any. */
  get paths(): string[] {
    return [...this.#byPath.keys()];
  }

  /** For `debugInfo`. */
  list(): { source: string; breakpoints: object[] }[] {
    return [...this.#byPath].map(([source, wanted]) => ({
      source,
      breakpoints: wanted.map(({ shown, given }) => ({ ...given, ...shown })),
    }));
  }

  /** Sets those of a source, in place of those it had. */
  async replace(path: string, given: readonly SourceBreakpoint[]): Promise<Breakpoint[]> {
    await this.#unset(this.#byPath.get(path) ?? []);
    this.#byPath.delete(path);
    const wanted: Wanted[] = [];
    for (const one of given) wanted.push(await this.#want(path, one));
    if (wanted.length > 0) this.#byPath.set(path, wanted);
    if (this.isOn) for (const script of await this.#scripts.at(path)) await this.apply(script);
    return wanted.map(({ shown }) => shown);
  }

  /** Sets what is wanted of a script's source in the script. */
  async apply(script: Script): Promise<void> {
    for (const wanted of this.#byPath.get(script.path) ?? []) await this.#set(wanted, script);
  }

  async applyAll(): Promise<void> {
    for (const path of this.#byPath.keys()) {
      for (const script of await this.#scripts.at(path)) await this.apply(script);
    }
  }

  async clear(): Promise<void> {
    for (const wanted of this.#byPath.values()) await this.#unset(wanted);
    this.#byPath.clear();
  }

  /** The numbers under which the client knows what V8 has come to. */
  hit(names: readonly string[]): number[] {
    return [...this.#byPath.values()]
      .flat()
      .filter(({ set }) => [...set.values()].some((name) => names.includes(name)))
      .map(({ shown }) => shown.id);
  }

  async #want(path: string, given: SourceBreakpoint): Promise<Wanted> {
    const id = ++this.#ids;
    const { line } = given;
    const shown: Breakpoint = { id, verified: true, line, source: { path } };
    const wanted: Wanted = { shown, given, set: new Map() };
    try {
      await this.#condition(id, path, given);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      Object.assign(shown, { verified: false, message: error.message });
    }
    return wanted;
  }

  /** What V8 evaluates to know whether to stop; in a file by the names that its script has for them. */
  async #condition(
    id: number,
    path: string | undefined,
    { condition, hitCondition, logMessage }: SourceBreakpoint,
  ): Promise<string | undefined> {
    if (!condition && !hitCondition && !logMessage) return undefined;
    const rule: BreakpointRule = { id, names: [] };
    const code = async (text: string): Promise<string> => {
      const made = await this.#compiler.call("debugCode", text, path);
      if (!made.ok) throw new Refusal(`Cannot set the breakpoint: ${text}: ${made.message}`);
      if (!made.isExpression)
        throw new Refusal(`Cannot set the breakpoint: ${text} must be an expression`);
      rule.names.push(...made.names);
      return made.js;
    };
    const test = condition ? `() => ${await code(condition)}` : "undefined";
    if (hitCondition) rule.hits = hitsOf(hitCondition);
    const log = logMessage
      ? `() => [${(await logParts(logMessage, code)).join(", ")}]`
      : "undefined";
    const target = `globalThis[Symbol.for(${JSON.stringify(DEBUG_TARGET)})]`;
    return `${target}.stops(${JSON.stringify(rule)}, ${test}, ${log})`;
  }

  async #set({ shown, given, set }: Wanted, script: Script): Promise<void> {
    const { at, positions, isNodes, path } = script;
    const key = "url" in at ? at.url : at.scriptId;
    if (set.has(key) || !shown.verified) return;
    const place = positions.toScript(shown.line);
    if (place === undefined) return;
    try {
      // Only now: before a file is loaded the compiler does not know what it imports.
      const condition = await this.#condition(shown.id, isNodes ? undefined : path, given);
      const { breakpointId, locations } = await this.#post(at, place, condition);
      set.set(key, breakpointId);
      const [first] = locations;
      const moved = first && positions.toSource({ columnNumber: 0, ...first })?.line;
      if (moved !== undefined) shown.line = moved;
    } catch (error) {
      // Two lines of which only the second has code are one place; behind the last there is none.
      if (!/already exists|Could not resolve/.test(String(error))) throw error;
    }
  }

  async #post(
    at: Script["at"],
    place: ScriptPlace,
    condition: string | undefined,
  ): Promise<Debugger.SetBreakpointByUrlReturnType> {
    if ("url" in at) {
      const given = { ...at, ...place, condition };
      return await this.#inspector.post("Debugger.setBreakpointByUrl", given);
    }
    const given = { location: { ...at, ...place }, condition };
    const { breakpointId, actualLocation } =
      await this.#inspector.post<Debugger.SetBreakpointReturnType>("Debugger.setBreakpoint", given);
    return { breakpointId, locations: [actualLocation] };
  }

  async #unset(wanted: readonly Wanted[]): Promise<void> {
    for (const { set } of wanted) {
      for (const breakpointId of set.values()) {
        if (this.isOn) await this.#inspector.post("Debugger.removeBreakpoint", { breakpointId });
      }
      set.clear();
    }
  }
}

function hitsOf(text: string): NonNullable<BreakpointRule["hits"]> {
  const found = /^\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*$/.exec(text);
  if (found === null) {
    const rule = "it must be a number, with ==, >=, >, <, <= or % before it";
    throw new Refusal(`Cannot set the breakpoint: the hit count ${text}: ${rule}`);
  }
  const [, sign = "==", count = "1"] = found;
  return { sign: sign as NonNullable<BreakpointRule["hits"]>["sign"], count: Number(count) };
}

/** The pieces of `x is {x}`, as JavaScript. */
async function logParts(
  message: string,
  code: (text: string) => Promise<string>,
): Promise<string[]> {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: whole, 1: inner = "", index } of message.matchAll(/\{([^{}]+)\}/g)) {
    parts.push(JSON.stringify(message.slice(at, index)), await code(inner));
    at = index + whole.length;
  }
  return [...parts, JSON.stringify(message.slice(at))];
}
