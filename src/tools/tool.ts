/** What a tool is told about the call besides its input. */
export interface ToolCall {
  /** Aborted when the time is over or the run is stopped; a tool should then stop and clean up. */
  readonly signal: AbortSignal;
  /** Milliseconds left for this call, all its attempts together. */
  readonly timeoutMs: number;
  /** 0 for the first attempt, 1 for the first repetition, and so on. */
  readonly attempt: number;
  /** What was written and what came back before this call, in turn, where the caller tells it. */
  readonly transcript?: readonly string[];
}

/**
 * What one attempt gave. `ok` says whether the tool did its work, not whether the model asked for
 * something sensible: a Python traceback and "No search results found." are answers (`ok: true`);
 * an unreachable endpoint or a dead worker is a failure (`ok: false`).
 */
export interface ToolResult {
  /**
   * What the model reads. Empty text counts as a failed attempt unless the tool says otherwise; of an attempt that
   * failed, the model reads that it did.
   */
  text: string;
  ok: boolean;
  /** Why it failed, for people and logs; the model never reads it. */
  error?: string;
  /** `false` when repeating cannot help (a refused key, a malformed request). */
  retry?: boolean;
  /** What the call itself earned, where a tool or an environment says so. */
  reward?: number;
  /** Anything a person may want to see later: a cache hit, a status code, the pages found. */
  details?: Record<string, unknown>;
}

/**
 * Something the model calls by writing `<tag>input</tag>`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ToolSet, type Tool } from "arpo-lab/tools";
 *
 * const shout: Tool = {
 *   name: "shout",
 *   tag: "shout",
 *   description: "Writes the input in capitals.",
 *   execute: (input) => input.toUpperCase(),
 * };
 * const outcome = await new ToolSet([shout]).call("shout", "hello");
 * assert.equal(outcome.text, "HELLO");
 * ```
 */
export interface Tool {
  readonly name: string;
  /** The model opens a call with `<tag>` and ends it with `</tag>`. */
  readonly tag: string;
  /** One or two sentences, as they may be put into a system prompt. */
  readonly description: string;
  /**
   * A JSON schema of its arguments, for models that call by JSON (`calls` of a rollout). Default: one text,
   * `input`. A single text is handed on as it is, other arguments as JSON.
   */
  readonly parameters?: object;
  /** An empty answer is an answer: not repeated and not counted as a failure. Default: false. */
  readonly emptyIsAnswer?: boolean;
  /**
   * A plain string is `{ text, ok: true }`; throwing, and giving anything else, is `{ text: "", ok: false }`: the
   * model reads that the call failed, and why is printed.
   * @param input the text between the tags
   * @param call its signal, the time left and the number of the attempt
   */
  execute(input: string, call: ToolCall): string | ToolResult | Promise<string | ToolResult>;
  /** Gives processes, files and sockets back. */
  dispose?(): void | Promise<void>;
}
