import {
  checkOptions,
  integer,
  notNegative,
  type OptionRules,
  optionsOf,
  texts,
} from "../../common/options/check-options.js";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import { WebSocketServer } from "ws";
import type { KernelSpec } from "../client/kernel-spec.js";
import type { Writer } from "../notebook/write.js";
import { ContentsThread } from "./contents/client.js";
import { Contents } from "./contents/contents.js";
import { Paths } from "./contents/paths.js";
import { contentsRoutes } from "./contents/routes.js";
import type { Json } from "../../common/http-server/body.js";
import type { Acts, ActLimits } from "./agents/acts.js";
import { agentRoutes } from "./agents/routes.js";
import { Guard } from "./http/guard.js";
import { ErrorResponse, toErrorResponse } from "../../common/http-server/error-response.js";
import { refuse } from "../../common/http-server/refuse.js";
import { type Answer, Router } from "./http/router.js";
import { ChannelSession } from "./kernels/channels.js";
import { V1 } from "./kernels/codec.js";
import { Kernels } from "./kernels/kernels.js";
import { launchProcess } from "./kernels/launch-process.js";
import { kernelRoutes } from "./kernels/routes.js";
import { socketLine } from "./kernels/socket-line.js";
import { Sessions, sessionRoutes } from "./kernels/sessions.js";
import { kernelNamed, specRoutes } from "./kernels/specs.js";
import { Pages, type SaveReport } from "./lab/pages.js";
import { pageRoutes } from "./lab/page.js";
import { type DocsFolders, helpRoutes } from "./lab/help.js";
import { labRoutes } from "./lab/routes.js";

/** How a lab server is set up. */
export interface LabOptions {
  /** The folder whose files are shown. */
  folder: string;
  /** Files and folders of it that are not listed, by their paths; who knows their names can open them. */
  unlisted?: readonly string[];
  /** Folders of lessons, by their paths: where a person edits them, and as they were shipped. */
  lessons?: { copies: string; shipped: string };
  /** 0, the default, is any free one. */
  port?: number;
  /** The address to listen on; loopback unless told otherwise. */
  host?: string;
  /** What a request must carry; made up unless given. */
  token?: string;
  /** Other names by which the machine may be called. */
  allowHosts?: string[];
  /** The folder of the built page; without one there is only the API. */
  page?: string;
  /** The documentation, shown below `/docs/`. */
  docs?: DocsFolders;
  /** Where settings, workspaces and trust are kept; in memory where it is not given. */
  data?: string;
  /** Kernels idle and without a page for this many seconds are ended; 0, the default, never. */
  cullIdle?: number;
  /** The largest file that can be saved at once, in bytes. */
  maxBody?: number;
  /** What is kept for a page that lost its connection. */
  buffer?: { bytes: number; time: number };
  /** Where kernels come from; the installed ones unless given. */
  findKernel?: (name: string) => KernelSpec;
  /** How long acts of agents wait, and how many may; for tests. */
  acts?: Partial<ActLimits>;
  /** How files are written, on the server's own thread; for tests that fill the disk. */
  write?: Writer;
}

const labRules: OptionRules<LabOptions> = {
  folder: "path",
  unlisted: texts,
  lessons: optionsOf<{ copies: string; shipped: string }>({ copies: "text", shipped: "text" }),
  port: integer(0, 65_535),
  host: "text?",
  token: "text?",
  allowHosts: texts,
  page: "path?",
  docs: "object?",
  data: "path?",
  cullIdle: notNegative,
  maxBody: integer(1),
  buffer: optionsOf<{ bytes: number; time: number }>({ bytes: integer(0), time: notNegative }),
  findKernel: "function?",
  acts: "object?",
  write: "function?",
};

/** What is no page of ours runs nothing, should somebody open it as one. */
const noPage = "default-src 'none'; sandbox; frame-ancestors 'self'";
const noBody = new Set([204, 304]);

/**
 * Jupyter Server's REST and WebSocket API, and the page of the lab.
 *
 * @example
 * ```ts
 * import { LabServer } from "arpo-lab/experimental/kernel";
 *
 * const server = await LabServer.start({ folder: "." });
 * const answer = await fetch(new URL("/api/status", server.url), {
 *   headers: { authorization: `token ${server.token}` },
 * });
 * if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
 * await server.stop();
 * ```
 */
export class LabServer {
  readonly token: string;
  /** What agents send: it opens `/agent/` alone, and the lab's own token does not open that. */
  readonly agentToken = randomBytes(24).toString("hex");
  readonly kernels: Kernels;
  readonly #options: LabOptions;
  readonly #guard: Guard;
  readonly #router = new Router();
  readonly #agents = new Router();
  readonly #agentGuard: Guard;
  readonly #acts: Acts;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #pages = new Pages();
  readonly #sessions = new Map<string, ChannelSession>();
  #contents: ContentsThread | undefined;
  #culling: NodeJS.Timeout | undefined;

  private constructor(options: LabOptions) {
    this.#options = options;
    this.token = options.token ?? randomBytes(24).toString("hex");
    if (this.token === "")
      throw new RangeError("Cannot start the lab: the token must not be empty");
    const host = options.host === undefined || isAny(options.host) ? [] : [options.host];
    const hosts = [...host, ...(options.allowHosts ?? [])];
    this.#guard = new Guard(this.token, hosts);
    this.#agentGuard = new Guard(this.agentToken, hosts);
    this.kernels = new Kernels(
      options.findKernel ?? kernelNamed,
      launchProcess,
      options.buffer?.bytes,
    );
    const maxBody = options.maxBody ?? 512 << 20;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxBody,
      handleProtocols: (offered) => (offered.has(V1) ? V1 : false),
    });
    this.#acts = this.#addRoutes(maxBody);
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  #addRoutes(maxBody: number): Acts {
    const { page, data, docs, folder, lessons } = this.#options;
    const paths = new Paths(folder);
    const sessions = new Sessions(this.kernels, paths);
    kernelRoutes(this.#router, this.kernels, sessions, paths, (kernel, session) =>
      this.#sessions.get(`${kernel} ${session}`),
    );
    sessionRoutes(this.#router, sessions);
    specRoutes(this.#router);
    this.#addContents(maxBody, (path, notebook) => sessions.saved(path, notebook));
    labRoutes(this.#router, {
      page,
      data,
      started: new Date(),
      activity: () => this.#activity(),
      pages: this.#pages,
    });
    if (docs !== undefined) helpRoutes(this.#router, docs);
    if (page !== undefined) {
      const build = basename(page);
      pageRoutes(this.#router, { page, build, root: paths.root, lessons });
    }
    const { kernels, options, pages } = {
      kernels: this.kernels,
      options: this.#options,
      pages: this.#pages,
    };
    return agentRoutes(this.#agents, this.#router, {
      kernels,
      sessions,
      paths,
      pages,
      limits: options.acts,
    });
  }

  #addContents(limit: number, onNotebook: (path: string, notebook: Json) => void): void {
    const { folder, data, write, unlisted } = this.#options;
    const trustFile = data === undefined ? undefined : join(data, "lab", "trusted");
    if (write !== undefined) {
      const contents = new Contents(folder, { trustFile, write, unlisted });
      contentsRoutes(this.#router, contents, limit, onNotebook);
      return;
    }
    this.#contents = new ContentsThread({ folder, trustFile, limit, unlisted }, onNotebook);
    this.#contents.routes(this.#router);
  }

  /** Asks the open pages to save what is not saved; they have `patience` milliseconds. */
  async saveAll(patience = 5000): Promise<SaveReport> {
    return await this.#pages.save(patience);
  }

  #activity(): Record<string, unknown> {
    const kernels = this.kernels.list;
    const times = kernels.map((k) => k.last_activity).sort();
    return {
      last_activity: times.at(-1) ?? new Date().toISOString(),
      connections: kernels.reduce((sum, k) => sum + k.connections, 0),
      kernels: kernels.length,
    };
  }

  /** Starts to listen. */
  static async start(options: LabOptions): Promise<LabServer> {
    checkOptions("start the lab", options, labRules);
    const lab = new LabServer(options);
    await new Promise<void>((listening, failed) => {
      lab.#server.once("error", failed);
      lab.#server.listen(options.port ?? 0, options.host ?? "127.0.0.1", listening);
    });
    lab.#guard.port = lab.port;
    const idle = (options.cullIdle ?? 0) * 1000;
    if (idle > 0) {
      const cull = (): void => void lab.kernels.cull(idle);
      lab.#culling = setInterval(cull, Math.min(idle, 30_000)).unref();
    }
    return lab;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address without the token. */
  get url(): string {
    const { host } = this.#options;
    const name = host === undefined || isAny(host) ? "127.0.0.1" : host;
    return `http://${name.includes(":") ? `[${name}]` : name}:${this.port}/`;
  }

  /** Ends the kernels and closes every connection. */
  async stop(): Promise<void> {
    clearInterval(this.#culling);
    this.#acts.stop();
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    await this.kernels.shutdownAll();
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    await this.#contents?.stop();
    await closed;
  }

  #url(request: IncomingMessage): URL {
    const target = request.url ?? "/";
    // WHATWG URLs resolve `..` silently; here it is refused instead, however it is written.
    const path = target.split("?")[0]!;
    const dots = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\]|%2f|%5c)/i;
    if (!target.startsWith("/") || target.startsWith("//") || dots.test(path)) {
      throw new ErrorResponse(400, "Cannot read the address: it must be a plain path");
    }
    try {
      return new URL(target, "http://lab.invalid");
    } catch {
      throw new ErrorResponse(400, "Cannot read the address");
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    response.setHeader("cross-origin-resource-policy", "same-origin");
    response.setHeader("x-frame-options", "SAMEORIGIN");
    response.setHeader("cache-control", "no-store");
    response.setHeader("content-security-policy", noPage);
    try {
      const url = this.#url(request);
      // Workers have the policy of their own script; pages say theirs.
      if (url.pathname.startsWith("/lab-static/")) {
        response.removeHeader("content-security-policy");
      }
      if (url.pathname.startsWith("/agent/")) {
        this.#agentGuard.checkProgram(request);
        await send(response, await this.#agents.handle(request, url), request.method === "HEAD");
        return;
      }
      const by = this.#guard.check(request, url);
      const isPage =
        request.method === "GET" && /^\/(?:$|lab(?:\/|$)(?!api\/)|doc\/)/.test(url.pathname);
      if (isPage && url.searchParams.has("token")) {
        // The token must not stay in the address, the history or a screenshot.
        url.searchParams.delete("token");
        response.setHeader("set-cookie", this.#guard.cookies());
        await send(response, { status: 302, headers: { location: url.pathname + url.search } });
        return;
      }
      if (isPage && by === "token") response.setHeader("set-cookie", this.#guard.cookies());
      await send(response, await this.#router.handle(request, url), request.method === "HEAD");
    } catch (error) {
      this.#fail(request, response, toErrorResponse(error));
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: ErrorResponse): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const asPage = error.status === 403 && (request.headers.accept ?? "").includes("text/html");
    const text = asPage
      ? `${error.message}\n`
      : JSON.stringify({ message: error.message, reason: null });
    const type = asPage ? "text/plain; charset=utf-8" : "application/json";
    refuse(request, response, { status: error.status, headers: { "content-type": type }, text });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    try {
      const url = this.#url(request);
      this.#guard.check(request, url);
      const id = /^\/api\/kernels\/([^/]+)\/channels$/.exec(url.pathname)?.[1];
      const events = url.pathname === "/api/events/subscribe";
      if (id === undefined && !events) throw new ErrorResponse(404, `Cannot find ${url.pathname}`);
      const kernel = id === undefined ? undefined : this.kernels.get(id);
      this.#sockets.handleUpgrade(request, socket, head, (ws) => {
        if (kernel === undefined) {
          this.#pages.add(socketLine(ws));
          return;
        }
        const session = url.searchParams.get("session_id") ?? randomBytes(16).toString("hex");
        const key = `${kernel.id} ${session}`;
        let line = this.#sessions.get(key);
        if (line === undefined) {
          const limits = this.#options.buffer ?? { bytes: 64 << 20, time: 600_000 };
          line = new ChannelSession(session, kernel, limits, () => this.#sessions.delete(key));
          this.#sessions.set(key, line);
        }
        const had = Number(url.searchParams.get("had") ?? "none");
        line.attach(socketLine(ws), Number.isSafeInteger(had) && had >= 0 ? had : undefined);
      });
    } catch (error) {
      const { status, message } = toErrorResponse(error);
      const body = JSON.stringify({ message });
      socket.end(
        `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
  }
}

const isAny = (host: string): boolean => host === "0.0.0.0" || host === "::";

async function send(response: ServerResponse, answer: Answer, headOnly = false): Promise<void> {
  const { json, bytes, file, opened, headers = {} } = answer;
  response.statusCode = answer.status ?? 200;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (opened !== undefined) {
    const stream = createReadStream("", {
      fd: opened.fd,
      start: 0,
      end: Math.max(0, opened.size - 1),
    });
    response.setHeader("content-length", opened.size);
    if (headOnly || opened.size === 0) {
      stream.destroy();
      response.end();
    } else await pipeline(stream, response);
    return;
  }
  if (file !== undefined) {
    response.setHeader("content-length", (await stat(file)).size);
    if (headOnly) response.end();
    else await pipeline(createReadStream(file), response);
    return;
  }
  if (noBody.has(response.statusCode)) {
    response.end();
    return;
  }
  if (json !== undefined) response.setHeader("content-type", "application/json");
  const body = json === undefined ? (bytes ?? Buffer.alloc(0)) : Buffer.from(JSON.stringify(json));
  response.setHeader("content-length", body.length);
  response.end(headOnly ? undefined : body);
}
