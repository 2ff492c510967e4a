// A Ray head as a client sees one, wire-exact by what trials with Ray 2.60 showed: what it refuses, what it
// says of unknown ids, how a log comes over the socket. Its jobs are scripts of the test.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { WebSocketServer, type WebSocket } from "ws";

/** A job on the fake head. */
export interface FakeJob {
  submission_id: string;
  status: string;
  message: string;
  entrypoint: string;
  metadata: Record<string, string>;
  runtime_env: Record<string, unknown>;
  entrypoint_num_cpus?: number;
  driver_node_id: string | null;
}

const node = "ab".repeat(28);
const mostBytes = 104857600;

/** A head that a test starts, kills and starts again on the same port. */
export class FakeHead {
  readonly packages = new Map<string, Buffer>();
  readonly jobs = new Map<string, FakeJob>();
  readonly logs = new Map<string, string[]>();
  /** Files below the node's log folder. */
  readonly files = new Map<string, Buffer>();
  readonly puts: string[] = [];
  cpus = 4;
  /** What its node has besides processors. */
  resources: Record<string, number> = {};
  /** What becomes of a job that was sent. */
  onSubmit: (job: FakeJob) => void = () => undefined;
  /** Loses the answer to the next submission, not the job. */
  loseAnswer = false;
  #server: Server | undefined;
  #port = 0;
  readonly #sockets = new Map<string, Set<WebSocket>>();
  readonly #token: string | undefined;

  private constructor(token: string | undefined) {
    this.#token = token;
  }

  static async start(t: Pick<TestContext, "after">, token?: string): Promise<FakeHead> {
    const head = new FakeHead(token);
    await head.listen();
    t.after(() => head.kill());
    return head;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      void this.#answer(request, response);
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request, socket, head) => {
      if (this.#refusal(request) !== undefined) {
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
        return;
      }
      sockets.handleUpgrade(request, socket, head, (client) => {
        this.#tail(request, client);
      });
    });
    await new Promise<void>((listening) =>
      server.listen(this.#port, "127.0.0.1", () => {
        listening();
      }),
    );
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Gone at once, with all it knew. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    for (const clients of this.#sockets.values()) for (const one of clients) one.terminate();
    this.#sockets.clear();
    this.jobs.clear();
    this.packages.clear();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** A job prints lines. */
  print(id: string, ...lines: string[]): void {
    this.logs.set(id, [...(this.logs.get(id) ?? []), ...lines]);
    for (const client of this.#sockets.get(id) ?? []) client.send(`${lines.join("\n")}\n`);
  }

  /** A job stands so now; one that is over closes its log. */
  set(id: string, status: string, message = ""): void {
    Object.assign(this.jobs.get(id)!, { status, message, driver_node_id: node });
    if (status === "RUNNING") return;
    for (const client of this.#sockets.get(id) ?? []) client.close(1000);
    this.#sockets.delete(id);
  }

  /** Breaks the lines of a log, not the job. */
  cut(id: string): void {
    for (const client of this.#sockets.get(id) ?? []) client.terminate();
    this.#sockets.delete(id);
  }

  /** Who reads a job's log now. */
  readers(id: string): number {
    return this.#sockets.get(id)?.size ?? 0;
  }

  #tail(request: IncomingMessage, client: WebSocket): void {
    // With compression the real one closes with 1000 and no line at all.
    if (request.headers["sec-websocket-extensions"] !== undefined) {
      client.close(1000);
      return;
    }
    const id = /^\/api\/jobs\/([^/]+)\/logs\/tail$/.exec(request.url ?? "")?.[1] ?? "";
    const lines = this.logs.get(id);
    if (lines) client.send(`${lines.join("\n")}\n`);
    if (!["PENDING", "RUNNING"].includes(this.jobs.get(id)?.status ?? "")) {
      client.close(1000);
      return;
    }
    const clients = this.#sockets.get(id) ?? new Set();
    this.#sockets.set(id, clients.add(client));
    client.on("close", () => clients.delete(client));
  }

  #refusal({ headers, method }: IncomingMessage): [number, string] | undefined {
    if (headers["sec-fetch-mode"] !== undefined && method !== "GET") {
      return [405, `'${method}' method not allowed for browser traffic.`];
    }
    if (this.#token === undefined) return undefined;
    if (headers.authorization === undefined)
      return [401, "Unauthorized: Missing authentication token"];
    const right = headers.authorization === `Bearer ${this.#token}`;
    return right ? undefined : [403, "Forbidden: Invalid authentication token"];
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const say = (status: number, body: string | Buffer = "") =>
      response.writeHead(status).end(body);
    const json = (value: unknown) => say(200, JSON.stringify(value));
    const refusal = this.#refusal(request);
    if (refusal) return void say(...refusal);
    const url = new URL(request.url ?? "/", "http://x");
    const body = Buffer.concat(parts);
    const way = `${request.method} ${url.pathname}`;
    const [, kind, name = "", more] =
      /^\/api\/(packages\/gcs|jobs)\/([^/]*)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    if (way === "GET /api/version") {
      return void json({ version: "4", ray_version: "2.60.0", session_name: "session_fake" });
    }
    if (way === "GET /api/v0/nodes") {
      const one = { node_id: node, state: "ALIVE", is_head_node: true };
      const result = [{ ...one, resources_total: { CPU: this.cpus, ...this.resources } }];
      return void json({ result: true, data: { result: { result } } });
    }
    if (way === "GET /api/v0/logs") {
      const root = url.searchParams.get("glob")!.replace("/**/*", "/");
      const internal = [...this.files.keys()].filter((path) => path.startsWith(root));
      return void json({ result: true, data: { result: { internal } } });
    }
    if (way === "GET /api/v0/logs/file") {
      const file = this.files.get(url.searchParams.get("filename")!);
      return void (file ? say(200, file) : say(500, "no such file"));
    }
    if (kind === "packages/gcs" && request.method === "GET") {
      return void (this.packages.has(name) ? say(200, "{}") : say(404, "Package does not exist."));
    }
    if (kind === "packages/gcs" && request.method === "PUT") {
      if (body.length > mostBytes) {
        return void say(413, `Maximum request body size ${mostBytes} exceeded`);
      }
      this.puts.push(name);
      this.packages.set(name, body);
      return void say(200);
    }
    if (way === "POST /api/jobs/") return void this.#submit(body, say, response);
    if (way === "GET /api/jobs/") return void json([...this.jobs.values()]);
    const job = this.jobs.get(name);
    if (!job) return void say(404, `Job ${name} does not exist.`);
    if (more === "logs") return void json({ logs: `${(this.logs.get(name) ?? []).join("\n")}\n` });
    if (more === "stop") {
      this.set(name, "STOPPED", "Job was intentionally stopped.");
      return void json({ stopped: true });
    }
    json(job);
  }

  #submit(
    body: Buffer,
    say: (status: number, body?: string) => unknown,
    response: ServerResponse,
  ): void {
    const given = JSON.parse(body.toString()) as FakeJob;
    const { submission_id: id, runtime_env: env } = given;
    if (this.jobs.has(id)) {
      say(500, `Traceback\nValueError: Job with submission_id ${id} already exists.`);
      return;
    }
    if (!this.packages.has(String(env["working_dir"]).replace("gcs://", ""))) {
      say(500, "the package is not there");
      return;
    }
    const job = { ...given, status: "PENDING", message: "", driver_node_id: null };
    this.jobs.set(id, job);
    if (this.loseAnswer) {
      this.loseAnswer = false;
      response.destroy();
    } else say(200, JSON.stringify({ submission_id: id, job_id: id }));
    this.onSubmit(job);
  }
}
