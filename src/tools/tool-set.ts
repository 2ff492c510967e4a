import {
  checkOptions,
  integer,
  milliseconds,
  type OptionRules,
} from "../../common/options/check-options.js";
import { checkArguments, shown } from "../../common/options/check-arguments.js";
import { isRecord } from "../../common/options/is-record.js";
import { running } from "../base/watch/running.js";
import { inTime } from "../base/concurrency/in-time.js";
import { Semaphore } from "../base/concurrency/semaphore.js";
import type { Tool, ToolResult } from "./tool.js";

/** Limits that hold for every tool of a set; the names in brackets are those of config files. */
export interface ToolLimits {
  /** Calls one trajectory may make, all tools together (`call_limit`). Default 3. */
  callLimit?: number;
  /** Calls that run at the same time (`max_workers`). Default 64. */
  maxWorkers?: number;
  /** Milliseconds a call may take, all attempts together (`timeout`, in seconds there). Default 120,000. */
  timeoutMs?: number;
  /** Attempts per call, the first included (`retry_count`). Default 3. */
  retryCount?: number;
  /** Milliseconds to wait before attempt `attempt` (1, 2, ...). Default: none, as the reference. */
  backoffMs?: (attempt: number) => number;
  /** The model reads of a call that failed that it returned empty output, as in the reference. Default: false. */
  failuresReadEmpty?: boolean;
}

const limitRules: OptionRules<ToolLimits> = {
  callLimit: integer(0),
  maxWorkers: integer(1),
  timeoutMs: milliseconds,
  retryCount: integer(1),
  backoffMs: "function?",
  failuresReadEmpty: "boolean?",
};

/** What a call may be told besides its input. */
interface CallOptions {
  /** Stops the call with an error. Default: none. */
  signal?: AbortSignal;
  /** What was written and found before the call, for tools that read it. Default: none. */
  transcript?: readonly string[];
}

interface RunOptions extends CallOptions {
  /** How often it is tried, the first time included. Default: `retryCount`. */
  attempts?: number;
}

const callRules = { signal: "signal?", transcript: "list?" } as const;

/** Why a call gave the model no answer of the tool's own. */
export interface ToolFailure {
  /** `empty`: it ran and said nothing; `error`: it failed; `timeout`: it did not answer in time. */
  kind: "empty" | "error" | "timeout";
  message: string;
}

/** One finished call: what the model reads, and what became of it. */
export interface ToolOutcome {
  tag: string;
  input: string;
  text: string;
  ok: boolean;
  /** Set exactly when `ok` is false. */
  failure?: ToolFailure;
  /** Attempts that failed; `retry_count` when all did. A timeout counts none, as in the reference. */
  retries: number;
  /** Wall time of the call without the wait for a free worker. */
  ms: number;
  /** What the call earned, where its tool said so. */
  reward?: number;
  details?: Record<string, unknown>;
}

const defaults = { callLimit: 3, maxWorkers: 64, timeoutMs: 120_000, retryCount: 3 };

/**
 * The tools of a run by tag, and the limits under which they are called.
 *
 * `call` never rejects because of a tool: failure is an outcome. It rejects when the tag is unknown
 * or the caller's own signal was aborted.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet(
 *   [{ name: "down", tag: "down", description: "", execute: () => { throw new Error("gone"); } }],
 *   { retryCount: 2 },
 * );
 * const outcome = await tools.call("down", "anyone?");
 * assert.equal(outcome.text, "Error: Tool(down) execution failed.");
 * assert.deepEqual(outcome.failure, { kind: "error", message: "gone" });
 * assert.equal(outcome.retries, 2);
 * ```
 */
export class ToolSet {
  readonly callLimit: number;
  readonly maxWorkers: number;
  readonly timeoutMs: number;
  readonly retryCount: number;
  readonly #backoffMs: ((attempt: number) => number) | undefined;
  readonly #readEmpty: boolean;
  readonly #tools = new Map<string, Tool>();
  readonly #semaphore: Semaphore;

  /**
   * @param tools the tools; each needs a tag of its own
   * @param limits time, attempts and calls at a time
   */
  constructor(tools: Iterable<Tool> = [], limits: ToolLimits = {}) {
    checkArguments("make a tool set", { tools }, { tools: "items" });
    checkOptions("make a tool set", limits, limitRules);
    this.callLimit = limits.callLimit ?? defaults.callLimit;
    this.maxWorkers = limits.maxWorkers ?? defaults.maxWorkers;
    this.timeoutMs = limits.timeoutMs ?? defaults.timeoutMs;
    this.retryCount = limits.retryCount ?? defaults.retryCount;
    this.#backoffMs = limits.backoffMs;
    this.#readEmpty = limits.failuresReadEmpty ?? false;
    this.#semaphore = new Semaphore(this.maxWorkers);
    for (const tool of tools) this.add(tool);
  }

  /**
   * Adds a tool; its tag must be new.
   * @param tool the tool to add, with the tag by which the model calls it
   */
  add(tool: Tool): void {
    checkArguments("add a tool", { tool }, { tool: { tag: "text", execute: "function" } });
    if (!/^[A-Za-z_][\w.-]*$/.test(tool.tag)) {
      throw new SyntaxError(
        `Cannot add tool ${tool.name}: the tag must be a letter followed by letters, digits, "_", "." or "-", got ${JSON.stringify(tool.tag)}`,
      );
    }
    if (this.#tools.has(tool.tag)) {
      throw new RangeError(
        `Cannot add tool ${tool.name}: each tag may be used once, got ${tool.tag} again`,
      );
    }
    this.#tools.set(tool.tag, tool);
  }

  /** The tags in the order the tools were added. */
  get tags(): string[] {
    return [...this.#tools.keys()];
  }

  /** The stop strings of generation: one closing tag per tool. */
  get stops(): string[] {
    return this.tags.map((tag) => `</${tag}>`);
  }

  /** @param tag the tool's tag */
  get(tag: string): Tool | undefined {
    return this.#tools.get(tag);
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#tools.values();
  }

  /**
   * Runs one call: waits for a free worker, then makes up to `retryCount` attempts in the time given.
   * @param tag the tool's tag
   * @param input the text between the tags
   */
  async call(tag: string, input: string, options: CallOptions = {}): Promise<ToolOutcome> {
    const tool = this.#tools.get(tag);
    if (!tool) {
      throw new RangeError(
        `Cannot call a tool: the tag must be one of ${this.tags.join(", ") || "(none loaded)"}, got ${tag}`,
      );
    }
    checkOptions("call a tool", options, callRules);
    return this.run(tool, input, options);
  }

  /**
   * Runs a call of a tool that need not be in the set, under the set's limits. A tool with a state is
   * given one attempt.
   * @param tool the tool to run, by the object instead of its tag
   * @param input the text between the tags
   */
  async run(tool: Tool, input: string, options: RunOptions = {}): Promise<ToolOutcome> {
    checkArguments(
      "call a tool",
      { tool, input },
      { tool: { execute: "function" }, input: "text" },
    );
    checkOptions("call a tool", options, { ...callRules, attempts: integer(1) });
    return this.#semaphore.run(() => this.#run(tool, input, options), options.signal);
  }

  /** Disposes every tool, all of them even when one fails. */
  async dispose(): Promise<void> {
    const done = await Promise.allSettled([...this].map((tool) => this.#end(tool)));
    const errors = done.flatMap((d) => (d.status === "rejected" ? [d.reason as unknown] : []));
    if (errors.length > 0) {
      const why = errors.map((error) => (error instanceof Error ? error.message : String(error)));
      throw new AggregateError(errors, `Cannot dispose every tool: ${why.join("; ")}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  /** Disposes one tool, in the time that a call may take. */
  async #end(tool: Tool): Promise<void> {
    const ms = this.timeoutMs;
    const late = () =>
      new Error(`Cannot dispose the tool <${tool.tag}>: it must end within ${ms / 1000} s`);
    const what = `the disposal of the tool <${tool.tag}>`;
    await inTime(
      running(what, async () => tool.dispose?.()),
      { ms, late },
    );
  }

  async #run(
    tool: Tool,
    input: string,
    { signal: outer, transcript, attempts = this.retryCount }: RunOptions,
  ): Promise<ToolOutcome> {
    const started = performance.now();
    const outcome = (rest: Omit<ToolOutcome, "tag" | "input" | "ms">): ToolOutcome => ({
      tag: tool.tag,
      input,
      ...rest,
      ms: performance.now() - started,
    });
    const abort = new AbortController();
    const late = new Error(`no answer within ${this.timeoutMs / 1000} s`);
    // The attempt is raced against the abort, so a tool that ignores its signal is left behind.
    const ended = new Promise<never>((_, reject) => {
      abort.signal.addEventListener("abort", () => {
        reject(abort.signal.reason as Error);
      });
    });
    ended.catch(() => undefined); // It also rejects when nobody waits any more.
    const timer = setTimeout(() => {
      abort.abort(late);
    }, this.timeoutMs);
    const stop = () => {
      abort.abort(outer?.reason);
    };
    outer?.addEventListener("abort", stop, { once: true });
    try {
      let failure: ToolFailure = { kind: "error", message: "never tried" };
      let retries = 0;
      let said = "";
      while (retries < attempts) {
        const wait = retries > 0 ? (this.#backoffMs?.(retries) ?? 0) : 0;
        if (wait > 0) await Promise.race([pause(wait, abort.signal), ended]);
        const left = Math.max(0, this.timeoutMs - (performance.now() - started));
        const result = await Promise.race([
          attempt(tool, input, {
            signal: abort.signal,
            timeoutMs: left,
            attempt: retries,
            transcript,
          }),
          ended,
        ]);
        const { text, details, reward } = result;
        const earned = reward === undefined ? {} : { reward };
        if (result.ok && text !== "")
          return outcome({ text, ok: true, retries, ...earned, details });
        if (result.ok && tool.emptyIsAnswer) {
          return outcome({ text: emptyText(tool.tag), ok: true, retries, ...earned, details });
        }
        retries++;
        failure = result.ok
          ? { kind: "empty", message: "the tool ran and returned nothing" }
          : { kind: "error", message: result.error ?? (text || "the tool gave no reason") };
        if (result.retry !== false) continue;
        said = text;
        break;
      }
      const isEmpty = failure.kind === "empty" || this.#readEmpty;
      const told = isEmpty ? emptyText(tool.tag) : failedText(tool.tag);
      return outcome({ text: said || told, ok: false, failure, retries });
    } catch (error) {
      if (error !== late) throw error;
      const text = `Error: Tool(${tool.tag}) execution failed with message: ${late.message}`;
      return outcome({
        text,
        ok: false,
        failure: { kind: "timeout", message: late.message },
        retries: 0,
      });
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
    }
  }
}

/** Tools as functions take them: a list, or a set where limits are to be set or shared. */
export type Tools = ToolSet | readonly Tool[];

/** Whether a tool takes no arguments, by its schema or, without one, by its function. */
export function takesNothing({
  execute,
  parameters,
}: Pick<Tool, "execute" | "parameters">): boolean {
  if (parameters === undefined) return execute.length === 0;
  const { properties = {} } = parameters as { properties?: unknown };
  return isRecord(properties) && Object.keys(properties).length === 0;
}

const isTool = (value: unknown): boolean => {
  const { tag, execute } = (value ?? {}) as Partial<Tool>;
  return typeof tag === "string" && typeof execute === "function";
};

/** The set of some tools, for a function that takes `Tools`. */
export function toolSetOf(action: string, tools: Tools): ToolSet {
  if (isTool(tools)) {
    throw new TypeError(
      `Cannot ${action}: tools must be a list of tools or a ToolSet, got one tool; write tools: [tool]`,
    );
  }
  if (!Array.isArray(tools)) {
    if (typeof (tools as ToolSet | null)?.call === "function") return tools as ToolSet;
    throw new TypeError(
      `Cannot ${action}: tools must be a list of tools or a ToolSet, got ${shown(tools)}`,
    );
  }
  const at = (tools as unknown[]).findIndex((one) => !isTool(one));
  if (at < 0) return new ToolSet(tools as Tool[]);
  const odd: unknown = tools[at];
  throw new TypeError(
    `Cannot ${action}: tools must be a list of tools ({ name, tag, description, execute }), got ${shown(odd)} in it: ${wrongWith(odd, `tools[${at}]`)}`,
  );
}

/** What a thing lacks to be a tool: by its name, where it has one. */
function wrongWith(odd: unknown, place: string): string {
  if (typeof odd === "function") return `${place} is to be called first, as in calculator()`;
  if (!isRecord(odd)) return `${place} has no tag and no execute`;
  const { name, tag, execute } = odd as Partial<Record<keyof Tool, unknown>>;
  const called = [name, tag].find((one) => typeof one === "string");
  const lacks = [
    ...(typeof tag === "string" ? [] : [`tag must be text, got ${shown(tag)}`]),
    ...(typeof execute === "function" ? [] : [`execute must be a function, got ${shown(execute)}`]),
  ];
  return `${place}${called === undefined ? "" : ` (${called})`}: ${lacks.join(", ")}`;
}

const emptyText = (tag: string) => `Tool(${tag}) returned empty output.`;
/** Why it failed is for people: a path or a key in it is none of the model's business. */
const failedText = (tag: string) => `Error: Tool(${tag}) execution failed.`;

function isResult(given: unknown): given is ToolResult {
  return isRecord(given) && typeof given["text"] === "string" && typeof given["ok"] === "boolean";
}

async function attempt(
  tool: Tool,
  input: string,
  call: Parameters<Tool["execute"]>[1],
): Promise<ToolResult> {
  try {
    const result = await running(`the tool <${tool.tag}>`, () => tool.execute(input, call));
    return asResult(result, tool.tag);
  } catch (error) {
    return { text: "", ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

/** What a tool gave, as a result; what is none, and a reward that is no finite number, is the tool's fault. */
function asResult(given: unknown, tag: string): ToolResult {
  if (typeof given === "string") return { text: given, ok: true };
  if (!isResult(given)) {
    const error = `the tool <${tag}> must return text or { text, ok }, got ${shown(given)}`;
    return { text: "", ok: false, error, retry: false };
  }
  const { reward } = given;
  if (reward === undefined || Number.isFinite(reward)) return given;
  throw new RangeError(
    `Cannot use the result of <${tag}>: its reward must be a finite number, got ${String(reward)}`,
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
