import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { OwnPages, sameSecret } from "../../../common/http-server/own-pages.js";

function cookies(request: IncomingMessage): Map<string, string> {
  const all = new Map<string, string>();
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0) all.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  return all;
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Decides who may talk to the server.
 *
 * The page must be this server's own (`OwnPages`), and a token or the cookie given for it must come
 * along. A write that only the cookie vouches for must name this server as its Origin, as browsers do,
 * or repeat the `_xsrf` cookie, which no other site can read; the Origin comes first because labs on
 * several ports overwrite each other's `_xsrf`.
 */
export class Guard {
  readonly token: string;
  readonly xsrf: string;
  readonly #pages: OwnPages;
  #cookie = "arpo-lab";

  constructor(token: string, hosts: string[]) {
    this.token = token;
    this.xsrf = this.#derive("xsrf");
    this.#pages = new OwnPages(hosts);
  }

  /** Cookies do not tell ports apart, so that of each server has a name of its own. */
  set port(port: number) {
    this.#cookie = `arpo-lab-${port}`;
  }

  /** From the token, so that an open page goes on after a restart with the same one. */
  #derive(use: string): string {
    return createHmac("sha256", this.token).update(use).digest("base64url");
  }

  /** The cookies that stand for the token from now on. */
  cookies(): string[] {
    return [
      `${this.#cookie}=${this.#derive("session")}; Path=/; HttpOnly; SameSite=Strict`,
      `_xsrf=${this.xsrf}; Path=/; SameSite=Strict`,
    ];
  }

  /** Throws unless the request comes from somebody who may make it; says how it was vouched for. */
  check(request: IncomingMessage, url: URL): "token" | "cookie" {
    this.#pages.check(request);
    const given = this.#givenToken(request, url);
    if (given !== undefined) {
      if (sameSecret(given, this.token)) return "token";
      throw new ErrorResponse(403, "Cannot let you in: the token is wrong");
    }
    const jar = cookies(request);
    const session = jar.get(this.#cookie);
    if (session === undefined || !sameSecret(session, this.#derive("session"))) {
      throw new ErrorResponse(403, "Cannot let you in: open the address that the terminal shows");
    }
    // An Origin that is here is this server's own: the first check saw to that.
    if (!safeMethods.has(request.method ?? "GET") && request.headers.origin === undefined) {
      const repeated = request.headers["x-xsrftoken"];
      if (typeof repeated !== "string" || !sameSecret(repeated, this.xsrf)) {
        throw new ErrorResponse(403, "Cannot change anything: the XSRF token is missing or wrong");
      }
    }
    return "cookie";
  }

  /** Throws unless a program sends the token in a header: no page, no cookie and no address will do. */
  checkProgram(request: IncomingMessage): void {
    this.#pages.check(request);
    const { authorization = "", origin } = request.headers;
    const given = /^bearer +(.+)$/i.exec(authorization)?.[1] ?? "";
    if (origin === undefined && sameSecret(given, this.token)) return;
    throw new ErrorResponse(403, "Cannot let you in: the agents' token is missing or wrong");
  }

  #givenToken(request: IncomingMessage, url: URL): string | undefined {
    const header = request.headers.authorization;
    if (header !== undefined) return /^(?:token|bearer) +(.+)$/i.exec(header)?.[1] ?? "";
    return url.searchParams.get("token") ?? undefined;
  }
}
