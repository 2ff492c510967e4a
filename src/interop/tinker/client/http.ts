import { randomUUID } from "#platform/uuid";
import { HttpError, requestJson } from "../../../base/http/request-json.js";
import { backoff, pause } from "../../../base/http/pause.js";
import { TinkerError, TinkerLostAnswer } from "./errors.js";
import type { TinkerSettings } from "./settings.js";

/** One call of the API. */
export interface Call {
  /** Completes "Cannot ...". */
  doing: string;
  path: string;
  body?: unknown;
  /**
   * `once`: it changes something at the server and must not be done twice, so that another attempt is
   * made only where this one surely did nothing.
   */
  effect?: "once";
  /** Told that the server has too much to do. */
  busy?: () => void;
  signal?: AbortSignal;
}

/** Attempts that never reached a server's program. */
const unreached = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
const longestWaitMs = 30_000;

/** Whether a failed attempt surely did nothing. */
function didNothing({ status, retryAfterMs, details: { code } }: HttpError): boolean {
  // A proxy's bare 503 may follow a connection that broke behind it.
  if (status !== undefined) return status < 500 || (status === 503 && retryAfterMs !== undefined);
  return code !== undefined && unreached.has(code);
}

/** What a server said in a refusal: FastAPI's `detail`, or its first words. */
export function reasonOf({ details: { said } }: HttpError): string | undefined {
  if (said === undefined || said === "") return undefined;
  try {
    const { detail, error } = JSON.parse(said) as { detail?: unknown; error?: unknown };
    const told = detail ?? error;
    if (told !== undefined) return typeof told === "string" ? told : JSON.stringify(told);
  } catch {
    // Not JSON: a proxy's page.
  }
  return said.replace(/\s+/g, " ").slice(0, 200);
}

/** A server that is asked over HTTP, with repetitions where they do no harm. */
export class TinkerHttp {
  constructor(
    readonly settings: TinkerSettings,
    private readonly send: typeof requestJson = requestJson,
  ) {}

  /** Makes a call and gives the JSON that was answered. */
  async call(call: Call): Promise<unknown> {
    const { attempts } = this.settings;
    // A server that knows the header does a repeated request once.
    const key = randomUUID();
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(call, { "X-Idempotency-Key": key });
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        if (error.status === 429 || error.status === 503) call.busy?.();
        if (call.effect === "once" && !didNothing(error)) {
          throw new TinkerLostAnswer(call.path, this.#message(error));
        }
        if (!error.retry || attempt + 1 >= attempts) throw this.#told(error);
        await pause(this.wait(attempt, error), call.signal);
      }
    }
  }

  /** One attempt. */
  once(call: Call, headers: Record<string, string> = {}): Promise<unknown> {
    const { url, headers: own, timeoutMs } = this.settings;
    return this.send(call.doing, {
      method: call.body === undefined ? "GET" : "POST",
      url: `${url}/api/v1/${call.path}`,
      headers: { ...headers, ...own },
      body: call.body,
      timeoutMs,
      maxBytes: 2 ** 30,
      // The key is meant for this server alone.
      redirects: false,
      signal: call.signal,
    });
  }

  /** How long to wait after a failed attempt: what was asked for, or a random part of a doubling time. */
  wait(attempt: number, error?: HttpError): number {
    if (error?.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, 4 * longestWaitMs);
    return backoff(attempt, { first: this.settings.backoffMs, longest: longestWaitMs });
  }

  /** The same failure with what the server said of it. */
  #told(error: HttpError): Error {
    const reason = reasonOf(error);
    if (reason === undefined) return error;
    const { status = 0 } = error;
    return new TinkerError(this.#message(error), status >= 400 && status < 500 ? "user" : "server");
  }

  #message(error: HttpError): string {
    const reason = reasonOf(error);
    return reason === undefined ? error.message : `${error.message}: ${reason}`;
  }
}
