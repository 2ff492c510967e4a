import type { IncomingMessage } from "node:http";
import { OwnPages } from "../../../http-server/own-pages.js";
import { sameSecret } from "../../../http-server/same-secret.js";
import { ApiError } from "./api-error.js";

/** Addresses that only this machine reaches. */
const isLoopback = (host: string) =>
  host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);

/**
 * Decides who may ask. With a key, who sends it; without one, programs on this machine and pages of
 * this very server, never those of other sites or of other local ports (`OwnPages`).
 */
export class Access {
  readonly #key: string | undefined;
  readonly #pages: OwnPages;

  constructor(host: string, key: string | undefined) {
    if (key === undefined && !isLoopback(host)) {
      throw new RangeError(
        `Cannot serve a policy: beyond this machine a key is needed, got none for ${host}`,
      );
    }
    this.#key = key;
    this.#pages = new OwnPages([host]);
  }

  /** Throws unless the request may be answered. */
  check(request: IncomingMessage): void {
    if (this.#key === undefined) {
      this.#pages.check(request);
      return;
    }
    const sent = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (sent !== undefined && sameSecret(sent, this.#key)) return;
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
}
