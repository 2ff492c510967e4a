import { isRecord } from "../../../../common/options/is-record.js";
import type { WrittenCall } from "./definition.js";

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a model's text need not be JSON
  }
}

/** The JSON object a text is, if it is one. */
export function asObject(text: string): Record<string, unknown> | undefined {
  const value = jsonOf(text);
  return isRecord(value) ? value : undefined;
}

/** A call from the JSON that a model wrote; what is wrong with it is said, for the model to read. */
export function fromJson(text: string): WrittenCall {
  const wrong = (problem: string, name = ""): WrittenCall => ({ name, arguments: {}, problem });
  const value = jsonOf(text);
  if (!isRecord(value)) return wrong("the call must be a JSON object");
  const { name } = value;
  if (typeof name !== "string" || name === "") return wrong("the call must have a name");
  const given = value["arguments"] ?? value["parameters"] ?? {};
  // Some models write the arguments as JSON in a string.
  const read = typeof given === "string" ? jsonOf(given) : given;
  return isRecord(read)
    ? { name, arguments: read }
    : wrong("the call's arguments must be a JSON object", name);
}

/** The arguments of a call that was begun, without the brace that ends it. */
export function begunArguments(begun: string): string {
  const inner = begun.trim();
  return inner.endsWith("}") ? inner.slice(0, -1).trim() : inner;
}
