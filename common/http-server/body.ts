import { joinBytes } from "#platform/bytes";
import type { Bytes } from "../platform/bytes.js";
import { ErrorResponse } from "./error-response.js";
import { deepest, isTooDeep } from "./nesting.js";

export type Json = Record<string, unknown>;

/** What is read of a request: one of HTTP's, or one that came by another way. */
export interface Asked extends AsyncIterable<Uint8Array> {
  method?: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of a stream: what leaves it open where reading stops. */
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>;
}

/** The body of a request, refused as soon as it is larger than allowed. */
export async function readBody(request: Asked, limit: number): Promise<Bytes> {
  const tooLarge = (): ErrorResponse =>
    new ErrorResponse(413, `Cannot take the request: its body must be at most ${limit} bytes`, {
      code: "request_too_large",
    });
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // A request that is refused half way must still be told so.
  const body = request.iterator?.({ destroyOnReturn: false }) ?? request;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return joinBytes(chunks);
}

/**
 * Throws unless a request says that it carries JSON. A page of another site cannot say so without
 * asking first, so a server without cookies needs this.
 */
export function checkJsonType(request: Pick<Asked, "headers">): void {
  const type = String(request.headers["content-type"] ?? "")
    .split(";")[0]!
    .trim()
    .toLowerCase();
  if (type === "application/json") return;
  throw new ErrorResponse(
    415,
    `Cannot read the request: its content type must be application/json, got ${type || "none"}`,
  );
}

/** The body as a JSON object; nothing sent is an empty one. */
export async function readJson(request: Asked, limit: number): Promise<Json> {
  const body = await readBody(request, limit);
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ErrorResponse(
      400,
      `Cannot read the request: its body must be JSON in UTF-8, got ${reason}`,
      { code: "invalid_json" },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ErrorResponse(400, "Cannot read the request: its body must be a JSON object");
  }
  if (isTooDeep(value)) {
    const rule = `its body may have at most ${deepest} lists and objects within each other`;
    throw new ErrorResponse(400, `Cannot read the request: ${rule}`, { code: "invalid_json" });
  }
  return value as Json;
}

/** A field that must be text; undefined where it may be left out. */
export function textField(body: Json, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") {
    throw new ErrorResponse(
      400,
      `Cannot read the request: ${name} must be text, got ${JSON.stringify(value)?.slice(0, 60)}`,
    );
  }
  return value;
}
