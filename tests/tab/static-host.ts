import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
};

/** One answer: what was asked for, and how many bytes of body came. */
export interface Visit {
  url: string;
  status: number;
  bytes: number;
}

/** Where a file's bytes are; undefined where there is none. */
export type Find = (name: string) => Uint8Array | undefined;

export interface HostOptions {
  headers?: Record<string, string>;
  /** Sends what has a type of text, and wasm, by gzip, as hosts of static files do. */
  compress?: boolean;
}

/** The files of a folder. */
export const inFolder =
  (folder: string): Find =>
  (name) => {
    const place = join(folder, normalize(`/${name}`));
    return existsSync(place) && statSync(place).isFile() ? readFileSync(place) : undefined;
  };

/** A plain host of static files below `/some-repo/`, without any header but type and tag; it notes who comes. */
export class StaticHost {
  readonly visits: Visit[] = [];
  readonly #find: Find;
  readonly #options: HostOptions;
  readonly #packed = new Map<string, Uint8Array>();
  #gate: { held: RegExp; open: Promise<void> } | undefined;

  private constructor(
    readonly server: Server,
    readonly url: string,
    find: Find,
    options: HostOptions,
  ) {
    this.#find = find;
    this.#options = options;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response);
    });
  }

  static async start(files: string | Find, options: HostOptions = {}): Promise<StaticHost> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const find = typeof files === "string" ? inFolder(files) : files;
    return new StaticHost(server, `http://127.0.0.1:${port}/some-repo/`, find, options);
  }

  /** Lets nobody have what has such an address until the function that this gives is called. */
  hold(held: RegExp): () => void {
    let release: () => void = () => undefined;
    this.#gate = { held, open: new Promise((done) => (release = done)) };
    return () => {
      this.#gate = undefined;
      release();
    };
  }

  async #answer({ url = "/", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#gate?.held.test(url)) await this.#gate.open;
    const path = decodeURIComponent(new URL(url, this.url).pathname);
    const name = path.replace(/^\/some-repo\//, "") || "index.html";
    const found = path.startsWith("/some-repo/") ? this.#find(name) : undefined;
    const whole = found ?? this.#find("404.html") ?? new Uint8Array();
    const type = types[extname(found === undefined ? "404.html" : name)];
    const etag = `"${createHash("sha1").update(whole).digest("hex")}"`;
    const packs = this.#options.compress === true && type !== undefined;
    const isKnown = found !== undefined && headers["if-none-match"] === etag;
    const body = isKnown ? new Uint8Array() : packs ? this.#pack(etag, whole) : whole;
    const status = isKnown ? 304 : found === undefined ? 404 : 200;
    this.visits.push({ url, status, bytes: body.length });
    response.writeHead(status, {
      "content-type": type ?? "application/octet-stream",
      etag,
      ...(packs ? { "content-encoding": "gzip" } : {}),
      ...this.#options.headers,
    });
    response.end(body);
  }

  #pack(etag: string, whole: Uint8Array): Uint8Array {
    let packed = this.#packed.get(etag);
    if (packed === undefined) this.#packed.set(etag, (packed = gzipSync(whole)));
    return packed;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
