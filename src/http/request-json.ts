import type { AxiosError } from "axios";

/** One request for JSON. */
export interface JsonRequest {
  method?: "GET" | "POST";
  url: string;
  headers?: Record<string, string>;
  params?: Record<string, string | number>;
  body?: unknown;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Largest answer taken, in bytes. Default 16 MiB. */
  maxBytes?: number;
}

/** What kept a request from an answer: nothing in time, a refusal, a broken connection, or not JSON. */
export type HttpFault = "timeout" | "status" | "connection" | "content";

/** A request that got no usable answer. Its message never holds headers, keys or query strings. */
export class HttpError extends Error {
  override name = "HttpError";
  constructor(
    message: string,
    /** The HTTP status, when there was one. */
    readonly status?: number,
    /** Whether the same request may succeed later. */
    readonly retry = true,
    /** What the server asked to wait (`Retry-After`), in milliseconds. */
    readonly retryAfterMs?: number,
    readonly fault: HttpFault = "connection",
  ) {
    super(message);
  }
}

/** Scheme, host and path: what may be shown of an address. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Whether axios threw it, told without loading axios. */
export function isAxiosError(error: unknown): error is AxiosError {
  return (error as Partial<AxiosError> | null)?.isAxiosError === true;
}

/** What went wrong, without anything of the request but its address. */
export function httpError(doing: string, url: string, error: unknown): HttpError {
  const where = shownUrl(url);
  if (!isAxiosError(error)) {
    const why = error instanceof Error ? error.message : String(error);
    return new HttpError(`Cannot ${doing}: ${where} must answer, got ${why}`);
  }
  const status = error.response?.status;
  // A redirect or an over-long answer also carries a response; only a refusal is told by its status.
  if (status !== undefined && (status < 200 || status > 299)) {
    const retry = status === 408 || status === 425 || status === 429 || status >= 500;
    const after = waitAsked(error.response?.headers["retry-after"]);
    return new HttpError(
      `Cannot ${doing}: ${where} must answer with status 200, got ${status}`,
      status,
      retry,
      after,
      "status",
    );
  }
  const timeout = error.code === "ECONNABORTED" || error.code === "ETIMEDOUT";
  const got = error.code ?? error.message;
  return new HttpError(
    `Cannot ${doing}: ${where} must answer, got ${timeout ? `nothing in time (${got})` : got}`,
    undefined,
    true,
    undefined,
    timeout ? "timeout" : "connection",
  );
}

/** `Retry-After` in milliseconds: it is a number of seconds or a date. */
function waitAsked(header: unknown): number | undefined {
  if (typeof header !== "string") return undefined;
  const wait = header.trim() === "" ? NaN : Number(header) * 1000;
  const ms = Number.isNaN(wait) ? Date.parse(header) - Date.now() : wait;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/**
 * Sends a request and gives the parsed JSON of a 200 answer; anything else is an `HttpError`.
 * `doing` completes "Cannot ...".
 */
export async function requestJson(doing: string, request: JsonRequest): Promise<unknown> {
  // Loaded with the first request: most uses of the package never make one.
  const { default: axios } = await import("axios");
  const { method = "GET", url, headers, params, body, signal } = request;
  let text: unknown;
  try {
    const response = await axios.request<unknown>({
      method,
      url,
      headers,
      params,
      data: body,
      signal,
      timeout: request.timeoutMs ?? 60_000,
      maxContentLength: request.maxBytes ?? 16 * 2 ** 20,
      responseType: "text",
      transformResponse: (data: unknown) => data, // parsed below, where a cut-off answer is noticed
      validateStatus: (status) => status === 200,
    });
    text = response.data;
  } catch (error) {
    if (signal?.aborted) throw signal.reason as Error;
    throw httpError(doing, url, error);
  }
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    throw new HttpError(
      `Cannot ${doing}: ${shownUrl(url)} must answer with JSON, got ${String(text).length} characters that are not`,
      undefined,
      true,
      undefined,
      "content",
    );
  }
}
