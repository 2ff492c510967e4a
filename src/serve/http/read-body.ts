import type { IncomingMessage } from "node:http";
import { ApiError } from "./api-error.js";

/** The JSON object a request carries, which may have so many bytes. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ApiError(415, `The content type must be application/json, got ${type || "none"}.`);
  }
  const tooLarge = () =>
    new ApiError(413, `The request must have at most ${maxBytes} bytes.`, {
      code: "request_too_large",
      headers: { connection: "close" },
    });
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  // A request that is refused half way must still be told so.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const part of body) {
    size += part.length;
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ApiError(400, `The request must be JSON in UTF-8: ${(error as Error).message}`, {
      code: "invalid_json",
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ApiError(400, "The request must be a JSON object.");
  }
  return value as Record<string, unknown>;
}
