import { defined } from "../../../../common/options/defined.js";
import { ErrorResponse } from "../../../../common/http-server/error-response.js";
import type { ServerResponse } from "node:http";

/** OpenAI's kinds of error. */
type ApiErrorType =
  "invalid_request_error" | "authentication_error" | "rate_limit_error" | "server_error";

/** A refusal in OpenAI's shape. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly type: ApiErrorType;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly status: number,
    message: string,
    more: {
      type?: ApiErrorType;
      param?: string;
      code?: string;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.type = more.type ?? "invalid_request_error";
    this.param = more.param ?? null;
    this.code = more.code ?? null;
    this.headers = more.headers ?? {};
  }

  /** What is sent. */
  body(): { error: { message: string; type: string; param: string | null; code: string | null } } {
    const { message, type, param, code } = this;
    return { error: { message, type, param, code } };
  }
}

/** Any error in OpenAI's shape; what is not a refusal is the server's own fault. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ErrorResponse) {
    return new ApiError(error.status, error.message, { code: error.code });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(500, message, { type: "server_error" });
}

/** Server-sent events, as OpenAI's clients read them. */
export class EventStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Sends one object, with the event's name where its clients read one; the headers go with the first. */
  send(data: unknown, event?: string): void {
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
      });
      this.#response.flushHeaders();
    }
    const name = event === undefined ? "" : `event: ${event}\n`;
    this.#response.write(
      `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
    );
  }

  /** Ends as OpenAI's older streams do. */
  end(): void {
    this.send("[DONE]");
    this.close();
  }

  close(): void {
    this.#response.end();
  }
}

/** Names fields in errors as the client wrote them: each step of their paths; one named nothing is left out. */
export function named<T>(names: Readonly<Record<string, string>>, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ApiError) || error.param === null) throw error;
    const step = (name: string) => (Object.hasOwn(names, name) ? names[name]! : name);
    const param = error.param
      .split(".")
      .map(step)
      .filter((name) => name !== "")
      .join(".");
    const { status, type, headers, code } = error;
    throw new ApiError(status, error.message.replace(error.param, param), {
      ...{ type, headers, param },
      ...defined({ code: code ?? undefined }),
    });
  }
}
