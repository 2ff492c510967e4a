import type { RequestTool } from "../schema/chat.js";

/** A call that a model wrote. */
export interface ToolCall {
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** What a text says, and what it calls. */
export interface ParsedTools {
  content: string;
  calls: ToolCall[];
}

/** The argument that a call by tag has: the first required one of its schema, else the first. */
export function onlyArgument({ function: { parameters } }: RequestTool): string {
  const { required, properties } = (parameters ?? {}) as {
    required?: unknown;
    properties?: object | null;
  };
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  return typeof first === "string" ? first : (Object.keys(properties ?? {})[0] ?? "input");
}

/** The JSON object a text is, if it is one. */
export function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // a model's text need not be JSON; the caller goes on with the text
  }
}
