import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ErrorResponse, toErrorResponse } from "../../http-server/error-response.js";
import { Guard } from "../../kernel/server/http/guard.js";

/** What is served. */
export interface ViewPages {
  page: string;
  /** The page of one prompt's tree; undefined where there is no such prompt. */
  tree?: ((index: number) => string | undefined) | undefined;
  port: number;
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // Pages hold what strangers' files say: nothing of them may ask anything of anybody.
  "content-security-policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
};

/** Serves pages on this machine alone, to whoever has the token of the address. */
export class ViewServer {
  readonly #guard = new Guard(randomBytes(24).toString("hex"), []);
  readonly #server: Server;
  readonly #pages: ViewPages;

  private constructor(pages: ViewPages) {
    this.#pages = pages;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  /** Starts to listen. */
  static async start(pages: ViewPages): Promise<ViewServer> {
    const made = new ViewServer(pages);
    await new Promise<void>((listening, failed) => {
      made.#server.once("error", failed);
      made.#server.listen(pages.port, "127.0.0.1", listening);
    });
    made.#guard.port = made.port;
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address, with the token. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/?token=${this.#guard.token}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      const url = new URL(request.url ?? "/", `http://127.0.0.1:${this.port}`);
      if (request.method !== "GET" && request.method !== "HEAD") {
        throw new ErrorResponse(405, `Cannot ${request.method}: pages are only read`);
      }
      const by = this.#guard.check(request, url);
      const page = this.#page(url.pathname);
      if (page === undefined) throw new ErrorResponse(404, `Cannot find ${url.pathname}`);
      response.writeHead(200, {
        ...headers,
        // Links within the pages carry no token: the cookie stands for it.
        ...(by === "token" ? { "set-cookie": this.#guard.cookies() } : {}),
      });
      response.end(request.method === "HEAD" ? undefined : page);
    } catch (error) {
      const { status, message } = toErrorResponse(error);
      response.writeHead(status, { ...headers, "content-type": "text/plain; charset=utf-8" });
      response.end(message);
    }
  }

  #page(path: string): string | undefined {
    if (path === "/") return this.#pages.page;
    const index = /^\/tree\/(\d{1,9})$/.exec(path)?.[1];
    return index === undefined ? undefined : this.#pages.tree?.(Number(index));
  }
}
