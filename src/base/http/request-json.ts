import { deepest, isTooDeep } from "../../../common/http-server/nesting.js";
import { withoutSecrets } from "./without-secrets.js";
import type { AxiosError } from "axios";

/** One request for JSON. */
export interface JsonRequest {
  method?: "GET" | "POST";
  url: string;
  headers?: Record<string, string>;
  params?: Record<string, string | number>;
  body?: unknown;
  /** For the whole answer. Default 60,000. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Largest answer taken, in bytes. Default 16 MiB. */
  maxBytes?: number;
  /** `false` takes a redirect for a refusal, also one on the same server. Default: true. */
  redirects?: boolean;
}

/** What kept a request from an answer: nothing in time, a refusal, a broken connection, or not JSON. */
type HttpFault = "timeout" | "status" | "connection" | "content";

/** What a failure says besides. */
interface HttpDetails {
  /** The system's word for a broken connection: `ECONNREFUSED`. */
  code?: string;
  /** What a server that refused answered, as text. */
  said?: string;
}

/**
 * A request that got no usable answer. Its message never holds headers, keys or query strings.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HttpError } from "arpo-lab/policy";
 *
 * const error = new HttpError("Cannot generate: the endpoint must answer, got 503", 503, true, 2000);
 * assert.ok(error.retry && error.retryAfterMs === 2000);
 * ```
 */
export class HttpError extends Error {
  override name = "HttpError";
  /**
   * @param message the error's text
   * @param fault the kind of failure
   */
  constructor(
    message: string,
    /** The HTTP status, when there was one. */
    readonly status?: number,
    /** Whether the same request may succeed later. */
    readonly retry = true,
    /** What the server asked to wait (`Retry-After`), in milliseconds. */
    readonly retryAfterMs?: number,
    readonly fault: HttpFault = "connection",
    /** More of a failure, where it is known. */
    readonly details: HttpDetails = {},
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
function httpError(
  doing: string,
  url: string,
  error: unknown,
  headers: Readonly<Record<string, string>>,
): HttpError {
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
    const asked = after === undefined ? "" : ` and is to be asked again in ${after / 1000} s`;
    return new HttpError(
      `Cannot ${doing}: ${where} must answer with status 200, got ${status}${asked}`,
      status,
      retry,
      after,
      "status",
      typeof error.response?.data === "string"
        ? { said: withoutSecrets(headers, error.response.data) }
        : {},
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
    error.code === undefined ? {} : { code: error.code },
  );
}

/** `Retry-After` in milliseconds: it is a number of seconds or a date. */
function waitAsked(header: unknown): number | undefined {
  if (typeof header !== "string") return undefined;
  const wait = header.trim() === "" ? NaN : Number(header) * 1000;
  const ms = Number.isNaN(wait) ? Date.parse(header) - Date.now() : wait;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Whether an address is still the server that was asked: the same one, or the same by https. */
function sameServer(asked: string, next: string): boolean {
  const [from, to] = [new URL(asked), new URL(next)];
  if (from.host === to.host) return from.protocol === to.protocol || to.protocol === "https:";
  return (
    from.hostname === to.hostname && from.port === "" && to.port === "" && to.protocol === "https:"
  );
}

/**
 * Sends a request and gives the parsed JSON of a 200 answer; anything else is an `HttpError`.
 * `doing` completes "Cannot ...". Redirects are followed on the same server only, since the request's
 * body and key are meant for no other; the answer must come within the time and have no more bytes
 * than are allowed.
 */
export async function requestJson(doing: string, request: JsonRequest): Promise<unknown> {
  // Loaded with the first request: most uses of the package never make one.
  const { default: axios } = await import("axios");
  const { method = "GET", url, headers, params, body, signal } = request;
  const { timeoutMs = 60_000, maxBytes = 16 * 2 ** 20, redirects = true } = request;
  const late = AbortSignal.timeout(timeoutMs);
  let elsewhere: string | undefined;
  let text: unknown;
  const unusable = (message: string, retry: boolean, fault: HttpFault): HttpError =>
    new HttpError(
      `Cannot ${doing}: ${shownUrl(url)} ${message}`,
      undefined,
      retry,
      undefined,
      fault,
    );
  try {
    const response = await axios.request<unknown>({
      method,
      url,
      headers,
      params,
      data: body,
      // axios' own timeout ends with the first byte; a server that drips must end too.
      signal: signal ? AbortSignal.any([signal, late]) : late,
      timeout: timeoutMs,
      maxContentLength: maxBytes,
      responseType: "text",
      transformResponse: (data: unknown) => data, // parsed below, where a cut-off answer is noticed
      validateStatus: (status) => status === 200,
      ...(redirects ? {} : { maxRedirects: 0 }),
      beforeRedirect: (next: Record<string, unknown>) => {
        const target = String(next.href);
        if (sameServer(url, target)) return;
        elsewhere = target;
        throw new Error("redirected to another server");
      },
    });
    text = response.data;
  } catch (error) {
    if (signal?.aborted) throw signal.reason as Error;
    if (elsewhere !== undefined) {
      const to = shownUrl(elsewhere);
      throw unusable(`must answer itself, got a redirect to ${to}`, false, "status");
    }
    if (late.aborted) throw unusable("must answer, got nothing in time", true, "timeout");
    if (isAxiosError(error) && error.message.startsWith("maxContentLength")) {
      throw unusable(`must answer with at most ${maxBytes} bytes, got more`, true, "content");
    }
    throw httpError(doing, url, error, headers ?? {});
  }
  let answer: unknown;
  try {
    answer = JSON.parse(String(text));
  } catch {
    throw unusable(
      `must answer with JSON, got ${String(text).length} characters that are not`,
      true,
      "content",
    );
  }
  // What reads it would overflow its stack.
  if (!isTooDeep(answer)) return answer;
  const rule = `must answer with at most ${deepest} lists and objects within each other, got more`;
  throw unusable(rule, true, "content");
}

/** The time in which no endpoint is there: how long it has lasted, and when it is too long. */
export class Outage {
  readonly #limitMs: number;
  #began: { at: number; last: unknown } | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Nobody is there any more; `last` is what the last one's request failed with. */
  begin(at: number, last?: unknown): void {
    this.#began ??= { at, last };
  }

  end(): void {
    this.#began = undefined;
  }

  /** What a request that has waited since then fails with, where this has lasted too long. */
  tooLong(doing: string, names: string, began: number, now: number): HttpError | undefined {
    if (!this.#began) return undefined;
    const { at, last } = this.#began;
    const ms = now - Math.max(at, began);
    if (ms < this.#limitMs) return undefined;
    const got = last instanceof Error ? `; the last one said: ${last.message}` : "";
    return new HttpError(
      `Cannot ${doing}: one of ${names} must answer, got nothing from any for ${Math.ceil(ms / 1000)} s${got}`,
      undefined,
      false,
    );
  }
}
