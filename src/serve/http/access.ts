import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ApiError } from "./api-error.js";

const digest = (text: string) => createHash("sha256").update(text).digest();

/** Addresses that only this machine reaches. */
export const isLoopback = (host: string) =>
  host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);

/**
 * Decides who may ask. With a key, who sends it; without one, who is on this machine and is no page of
 * another site: such a page can send requests here and, by pointing its own name at 127.0.0.1, even
 * read the answers.
 */
export class Access {
  readonly #key: Buffer | undefined;
  readonly #hosts: ReadonlySet<string>;

  constructor(host: string, key: string | undefined) {
    if (key === undefined && !isLoopback(host)) {
      throw new RangeError(
        `Cannot serve a policy: beyond this machine a key is needed, got none for ${host}`,
      );
    }
    this.#key = key === undefined ? undefined : digest(key);
    const own = isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
    this.#hosts = new Set(["localhost", "127.0.0.1", "[::1]", own]);
  }

  /** Throws unless the request may be answered. */
  check({ headers }: IncomingMessage): void {
    if (this.#key) {
      const sent = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
      if (sent !== undefined && timingSafeEqual(digest(sent), this.#key)) return;
      throw new ApiError(
        401,
        sent === undefined
          ? "You must send a key: Authorization: Bearer KEY."
          : "The key that was sent is not the server's.",
        {
          type: "authentication_error",
          code: "invalid_api_key",
          headers: { "www-authenticate": "Bearer" },
        },
      );
    }
    const name = /^(\[[0-9a-f:.]+\]|[^:]+)(:\d+)?$/i.exec(headers.host ?? "")?.[1]?.toLowerCase();
    const origin = headers.origin === undefined ? undefined : originHost(headers.origin);
    if (
      name !== undefined &&
      this.#hosts.has(name) &&
      (origin === undefined || this.#hosts.has(origin))
    ) {
      return;
    }
    throw new ApiError(403, "Without a key only this machine's own programs may ask.", {
      code: "forbidden_host",
    });
  }
}

function originHost(origin: string): string {
  try {
    return new URL(origin).hostname;
  } catch {
    return origin; // "null", which is no host
  }
}
