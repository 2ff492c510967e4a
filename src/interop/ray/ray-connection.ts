import http from "node:http";
import https from "node:https";

/**
 * A cluster that refused, or did not answer. Its message holds no token.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { cluster, RayError } from "arpo-lab/experimental/scale";
 *
 * // Nothing listens on port 9.
 * const error: unknown = await cluster("http://127.0.0.1:9").catch((e: unknown) => e);
 * assert.ok(error instanceof RayError);
 * assert.deepEqual([error.status, error.away], [undefined, true]);
 * ```
 */
export class RayError extends Error {
  override name = "RayError";
  constructor(
    message: string,
    /** The HTTP status, where there was an answer. */
    readonly status?: number,
  ) {
    super(message);
  }

  /** Nothing answered: the head is gone, or cannot be reached from here. */
  get away(): boolean {
    return this.status === undefined;
  }
}

/** Where a cluster is, and how it is asked. */
export interface RayAddress {
  /** `http://HEAD:8265`, or https where a proxy speaks TLS. */
  address: string;
  /**
   * Name of the environment variable that holds the cluster's token. Only the name is ever kept.
   *
   * @default "RAY_AUTH_TOKEN", if it is set
   */
  tokenEnv?: string;
  /** Milliseconds for an answer. @default 30_000 */
  timeoutMs?: number;
}

/** What Ray takes as a package over REST. */
export const mostBytes = 100 * 2 ** 20;

/** One HTTP connection to a Ray head, by Node's own http. */
export class RayConnection {
  readonly url: string;
  readonly #tokenEnv: string | undefined;
  readonly #timeoutMs: number;

  constructor({ address, tokenEnv, timeoutMs = 30_000 }: RayAddress) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !["http:", "https:"].includes(url.protocol) || url.username || url.search) {
      const got = String(address)
        .replace(/\/\/.*@/, "//…@")
        .split("?")[0];
      throw new RangeError(
        `Cannot use a cluster: address must be http://HEAD:8265 or https, without a user or a query, got ${got}`,
      );
    }
    this.url = url.href.replace(/\/$/, "");
    this.#tokenEnv = tokenEnv;
    this.#timeoutMs = timeoutMs;
  }

  /** The headers that let one in. */
  headers(): Record<string, string> {
    const name = this.#tokenEnv ?? "RAY_AUTH_TOKEN";
    const token = process.env[name];
    if (token) return { authorization: `Bearer ${token}` };
    if (this.#tokenEnv === undefined) return {};
    throw new RayError(
      `Cannot use the cluster: the environment variable ${name} must hold its token, got none`,
      401,
    );
  }

  /**
   * Asks and gives the bytes of a 2xx answer. Not with fetch(): that sends Sec-Fetch-Mode, which Ray takes
   * for a browser's and refuses.
   */
  async bytes(
    doing: string,
    method: "GET" | "PUT" | "POST" | "DELETE",
    path: string,
    body?: { data: string | Uint8Array; type: string },
  ): Promise<Buffer> {
    const { status, data } = await new Promise<{ status: number; data: Buffer }>(
      (resolve, reject) => {
        const client = this.url.startsWith("https:") ? https : http;
        const length = body ? Buffer.byteLength(body.data) : 0;
        const request = client.request(
          this.url + path,
          {
            method,
            headers: {
              ...this.headers(),
              ...(body ? { "content-type": body.type, "content-length": length } : {}),
            },
            // A package of 100 MiB takes its time over a slow line.
            timeout: this.#timeoutMs + length / 100,
          },
          (response) => {
            const parts: Buffer[] = [];
            response.on("data", (part: Buffer) => parts.push(part));
            response.on("error", reject);
            response.on("end", () => {
              resolve({ status: response.statusCode ?? 0, data: Buffer.concat(parts) });
            });
          },
        );
        request.on("timeout", () => request.destroy(new Error("nothing in time")));
        request.on("error", reject);
        request.end(body?.data);
      },
    ).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof RayError) throw error;
      throw new RayError(
        `Cannot ${doing}: ${this.url} must answer, got ${error.code ?? error.message}`,
      );
    });
    if (status >= 200 && status < 300) return data;
    throw new RayError(`Cannot ${doing}: ${this.url} ${refusal(status, data.toString())}`, status);
  }

  /** Asks with JSON and gives the JSON of the answer; undefined where that is empty. */
  async json(
    doing: string,
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<unknown> {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const sent = data === undefined ? undefined : { data, type: "application/json" };
    const text = (await this.bytes(doing, method, path, sent)).toString();
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new RayError(
        `Cannot ${doing}: ${this.url} must be a Ray dashboard, got an answer that is not JSON`,
        502,
      );
    }
  }
}

/** A refusal in words; a traceback's last line is what it says. */
function refusal(status: number, text: string): string {
  if (status === 401) return "asks for a token (RAY_AUTH_TOKEN, or the variable named), got none";
  if (status === 403) return "must be given its own token, got another (403)";
  const last = text.trim().split("\n").at(-1) ?? "";
  return `must answer with status 200, got ${status}${last ? `: ${last.slice(0, 300)}` : ""}`;
}
