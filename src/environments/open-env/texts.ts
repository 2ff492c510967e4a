import { defined } from "../../../common/options/defined.js";

type Json = Record<string, unknown>;

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/**
 * What the model reads of an observation: a tool's text, `message`, `text`, `stdout` and `stderr`, the messages that
 * are new, or else its JSON without metadata.
 */
export function observed(observation: Json, before?: Json): string {
  const { error, result, stdout, stderr, messages, metadata, ...rest } = observation;
  if (typeof error === "object" && error !== null) {
    const { message, error_type: kind } = error as Json;
    return `Error: ${text(message) ?? text(kind) ?? JSON.stringify(error)}`;
  }
  if (typeof result === "object" && result !== null) return toolText(result as Json);
  if (text(result) !== undefined) return text(result)!;
  const said = text(rest["message"]) ?? text(rest["text"]);
  if (said !== undefined) return said;
  if (text(stdout) !== undefined || text(stderr) !== undefined) {
    return (text(stdout) ?? "") + (text(stderr) ?? "");
  }
  if (Array.isArray(messages)) {
    const old = before?.["messages"];
    // Some send the whole history each time, others only what is new.
    const known = Array.isArray(old) && startsWith(messages, old) ? old.length : 0;
    return messages
      .slice(known)
      .map((message) => text((message as Json | null)?.["content"]) ?? JSON.stringify(message))
      .join("\n");
  }
  const left: Json = { ...rest, ...(result === null ? {} : defined({ result })) };
  delete left["done"];
  delete left["reward"];
  if (Object.keys(left).length > 0) return JSON.stringify(left);
  return text((metadata as Json | null | undefined)?.["message"]) ?? "";
}

const startsWith = (list: readonly unknown[], head: readonly unknown[]): boolean =>
  list.length >= head.length &&
  head.every((item, i) => JSON.stringify(item) === JSON.stringify(list[i]));

function toolText(result: Json): string {
  const { content, data, is_error: failed } = result;
  const parts = Array.isArray(content)
    ? content.map((part) => {
        const { type, text: words, mimeType } = (part ?? {}) as Json;
        return text(words) ?? `[${String(type)}: ${text(mimeType) ?? ""}]`;
      })
    : [text(data) ?? JSON.stringify(result)];
  return `${failed === true ? "Error: " : ""}${parts.join("\n")}`;
}

/** What was wrong with an action, for the model. */
export function invalid(data: Json): string {
  const errors = Array.isArray(data["errors"]) ? (data["errors"] as Json[]) : [];
  const list = errors.slice(0, 8).map(({ loc, msg }) => {
    const where = Array.isArray(loc) ? loc.join(".") : "";
    return where === "" ? String(msg) : `${where}: ${String(msg)}`;
  });
  return `Error: ${(list.length > 0 ? list.join("; ") : String(data["message"])).slice(0, 2000)}`;
}
