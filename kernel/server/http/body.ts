import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.js";

export type Json = Record<string, unknown>;

/** The body of a request, refused as soon as it is larger than allowed. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `Cannot take the request: its body must be at most ${limit} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as a JSON object; nothing sent is an empty one. */
export async function readJson(request: IncomingMessage, limit: number): Promise<Json> {
  const body = await readBody(request, limit);
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HttpError(400, `Cannot read the request: its body must be JSON, got ${reason}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new HttpError(400, "Cannot read the request: its body must be a JSON object");
  }
  return value as Json;
}

/** A field that must be text; undefined where it may be left out. */
export function textField(body: Json, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") {
    throw new HttpError(
      400,
      `Cannot read the request: ${name} must be text, got ${JSON.stringify(value)?.slice(0, 60)}`,
    );
  }
  return value;
}
