import { ErrorResponse } from "./error-response.js";
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** The name in a Host header, without the port; undefined where it is not one. */
function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase();
}

/** Where a browser says that the page of another server asks: of another site, or of another port. */
const foreign = new Set(["cross-site", "same-site"]);

/**
 * Keeps pages of other servers out of a server on this machine.
 *
 * Such a page can make the browser send requests here, and by pointing its own name at 127.0.0.1 even
 * read the answers. So the Host must be a name of ours and the whole Origin, port included, must be
 * this server: a page of another local port may not ask either, since whatever listens there need not
 * be the same person's. Following a link from such a page is allowed. Programs, which send no Origin,
 * are not distinguished; a token or a key must do that.
 */
export class OwnPages {
  readonly #hosts: ReadonlySet<string>;

  /** `hosts`: names of this server besides those of the loopback. */
  constructor(hosts: readonly string[] = []) {
    const named = hosts.map((host) => (isIP(host) === 6 ? `[${host}]` : host.toLowerCase()));
    this.#hosts = new Set(["localhost", "127.0.0.1", "[::1]", ...named]);
  }

  /** Throws where a page of another server asks, or this one is asked under a name it does not have. */
  check({ headers }: IncomingMessage): void {
    const { host, origin } = headers;
    const refused = (message: string): ErrorResponse =>
      new ErrorResponse(403, message, { code: "forbidden_host" });
    const name = hostName(host);
    if (name === undefined || !this.#hosts.has(name)) {
      throw refused(`Cannot serve host ${host ?? "(none)"}: it must be this machine`);
    }
    if (origin !== undefined && origin !== `http://${host}`) {
      throw refused(`Cannot serve pages of ${origin}: they must be this server's own`);
    }
    const site = headers["sec-fetch-site"];
    const navigation = headers["sec-fetch-mode"] === "navigate" && headers.upgrade === undefined;
    if (typeof site === "string" && foreign.has(site) && !navigation) {
      throw refused(
        `Cannot serve pages of another ${site === "same-site" ? "port" : "site"}: they must be this server's own`,
      );
    }
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether two secrets are the same, in a time that does not tell how much of them is. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}
