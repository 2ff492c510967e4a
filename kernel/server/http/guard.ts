import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { HttpError } from "./http-error.js";

const same = (a: string, b: string): boolean => {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
};

function cookies(request: IncomingMessage): Map<string, string> {
  const all = new Map<string, string>();
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0) all.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  return all;
}

/** The name in a Host header, without the port; undefined where it is not one. */
function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase();
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Decides who may talk to the server.
 *
 * A page of another site can make the browser send requests here, and by pointing its own name at
 * 127.0.0.1 even read the answers. So the Host must be a name of ours, the Origin must be this server,
 * a token or the cookie given for it must come along, and a write that only the cookie vouches for
 * must repeat the `_xsrf` cookie, which no other site can read.
 */
export class Guard {
  readonly token: string;
  readonly xsrf: string;
  readonly #hosts: Set<string>;
  readonly #secret = randomBytes(32);
  #cookie = "arpo-lab";

  constructor(token: string, hosts: string[]) {
    this.token = token;
    this.xsrf = this.#derive("xsrf");
    this.#hosts = new Set(["localhost", "127.0.0.1", "[::1]"]);
    for (const host of hosts) this.#hosts.add(isIP(host) === 6 ? `[${host}]` : host.toLowerCase());
  }

  /** Cookies do not tell ports apart, so that of each server has a name of its own. */
  set port(port: number) {
    this.#cookie = `arpo-lab-${port}`;
  }

  #derive(use: string): string {
    return createHmac("sha256", this.#secret).update(use).digest("base64url");
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
    const { host, origin } = request.headers;
    const name = hostName(host);
    if (name === undefined || !this.#hosts.has(name)) {
      throw new HttpError(403, `Cannot serve host ${host ?? "(none)"}: it must be this machine`);
    }
    if (origin !== undefined && origin !== `http://${host}`) {
      throw new HttpError(403, `Cannot serve pages of ${origin}: they must be this server's own`);
    }
    const site = request.headers["sec-fetch-site"];
    const upgrade = request.headers.upgrade !== undefined;
    if (site === "cross-site" && (request.headers["sec-fetch-mode"] !== "navigate" || upgrade)) {
      throw new HttpError(403, "Cannot serve pages of another site");
    }
    const given = this.#givenToken(request, url);
    if (given !== undefined) {
      if (same(given, this.token)) return "token";
      throw new HttpError(403, "Cannot let you in: the token is wrong");
    }
    const jar = cookies(request);
    const session = jar.get(this.#cookie);
    if (session === undefined || !same(session, this.#derive("session"))) {
      throw new HttpError(403, "Cannot let you in: open the address that the terminal shows");
    }
    if (!safeMethods.has(request.method ?? "GET")) {
      const repeated = request.headers["x-xsrftoken"];
      if (typeof repeated !== "string" || !same(repeated, this.xsrf)) {
        throw new HttpError(403, "Cannot change anything: the XSRF token is missing or wrong");
      }
    }
    return "cookie";
  }

  #givenToken(request: IncomingMessage, url: URL): string | undefined {
    const header = request.headers.authorization;
    if (header !== undefined) return /^(?:token|bearer) +(.+)$/i.exec(header)?.[1] ?? "";
    return url.searchParams.get("token") ?? undefined;
  }
}
