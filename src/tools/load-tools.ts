import { isAbsolute, resolve } from "#platform/path";
import { addressOf } from "#platform/addresses";
import { z } from "#zod";
import { checkArguments } from "../arguments/check-arguments.js";
import { checkOptions } from "../arguments/check-options.js";
import { homePath } from "../files/home-path.js";
import { importModule } from "../modules/import-module.js";
import { nearest } from "../../spelling/nearest.js";
import { knownTools, type ToolParams } from "./known-tools.js";
import { ToolSet } from "./tool-set.js";
import type { Tool } from "./tool.js";

/** The `tools` part of a rollout's configuration, with the reference's key names. */
const toolsConfig = z.strictObject({
  call_limit: z.number().int().min(0).optional(),
  max_workers: z.number().int().min(1).optional(),
  /** Seconds. */
  timeout: z.number().positive().optional(),
  retry_count: z.number().int().min(1).optional(),
  verbose_logging: z.boolean().optional(),
  /** Throw when a tool does not load; otherwise it is left out and `onError` is told. */
  fail_on_error: z.boolean().optional(),
  tool_instances: z
    .record(
      z.string(),
      z.strictObject({
        class_path: z.string(),
        params: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .optional(),
});

/** What may be written as a `tools` configuration. */
export type ToolsConfig = z.input<typeof toolsConfig>;

/** A module's tool: `./my-tool.js`, or `./my-tool.js#name` for one of several exports. */
async function fromModule(
  path: string,
  folder: string,
  params: ToolParams,
  tag: string,
): Promise<Tool> {
  const [file = "", name = "default"] = path.split("#");
  const local = /^[.~]/.test(file) || isAbsolute(file);
  const url = local ? addressOf(resolve(folder, homePath(file))) : file;
  const module = await importModule(url);
  const made = module[name];
  if (made === undefined) {
    throw new TypeError(
      `Cannot load tool ${tag}: ${file} must export ${name}, got ${Object.keys(module).join(", ") || "nothing"}`,
    );
  }
  const tool: unknown = typeof made === "function" ? await make(made, params) : made;
  if (
    typeof tool !== "object" ||
    tool === null ||
    typeof (tool as Partial<Tool>).execute !== "function"
  ) {
    throw new TypeError(
      `Cannot load tool ${tag}: ${path} must give an object with execute, got ${typeof tool}`,
    );
  }
  const own = tool as Partial<Tool> & Pick<Tool, "execute">;
  return {
    name: own.name ?? tag,
    tag,
    description: own.description ?? "",
    emptyIsAnswer: own.emptyIsAnswer,
    execute: own.execute.bind(own),
    dispose: () => own.dispose?.(),
  };
}

// A class has to be constructed, a function called; what tells them apart is how they are written.
const make = (made: CallableFunction, params: ToolParams): unknown =>
  /^class\b/.test(Function.prototype.toString.call(made))
    ? (Reflect.construct(made, [params]) as unknown)
    : (made as (params: ToolParams) => unknown)(params);

/** A tool that the lab knows; a parameter that it would not read is refused. */
function fromName(path: string, params: ToolParams, tag: string) {
  const { make, params: known } = knownTools[path]!;
  const strange = Object.keys(params).find((name) => !known.includes(name));
  if (strange === undefined) return make(params, tag);
  const near = nearest(strange, known);
  const all = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  throw new RangeError(
    `Cannot load tool ${tag}: every parameter of ${path} must be known, got ${strange} (${near === undefined ? all : `did you mean ${near}?`})`,
  );
}

/**
 * The tools of a configuration. An instance's name is its tag; `class_path` is a name of ours
 * (`python`, `search.offline`, `search.bright-data`, `search.searxng`, `search.json`, `search.deep`,
 * `calculator`, `file`, `mcp`), one of the reference's class paths, or a module.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadTools } from "arpo-lab/tools";
 *
 * const tools = await loadTools({
 *   call_limit: 5,
 *   timeout: 10,
 *   tool_instances: { calc: { class_path: "calculator" } },
 * });
 * assert.deepEqual([tools.tags, tools.callLimit, tools.timeoutMs], [["calc"], 5, 10_000]);
 * ```
 */
export async function loadTools(
  config: ToolsConfig,
  options: { folder?: string; onError?: (error: Error) => void } = {},
): Promise<ToolSet> {
  checkArguments("load tools", { config }, { config: "object" });
  checkOptions("load tools", options, { folder: "path?", onError: "function?" });
  const parsed = toolsConfig.safeParse(config);
  if (!parsed.success) {
    throw new TypeError(`Cannot load tools: ${z.prettifyError(parsed.error)}`);
  }
  const { tool_instances = {}, fail_on_error = true } = parsed.data;
  const set = new ToolSet([], {
    callLimit: parsed.data.call_limit,
    maxWorkers: parsed.data.max_workers,
    timeoutMs: parsed.data.timeout && parsed.data.timeout * 1000,
    retryCount: parsed.data.retry_count,
  });
  for (const [tag, { class_path: path, params }] of Object.entries(tool_instances)) {
    try {
      const made = Object.hasOwn(knownTools, path)
        ? await fromName(path, params ?? {}, tag)
        : await fromModule(path, options.folder ?? resolve(), params ?? {}, tag);
      for (const tool of [made].flat()) set.add(tool);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const error = new Error(
        why.startsWith("Cannot load") ? why : `Cannot load tool ${tag}: ${why}`,
        { cause },
      );
      if (fail_on_error) {
        await set.dispose();
        throw error;
      }
      options.onError?.(error);
    }
  }
  return set;
}
