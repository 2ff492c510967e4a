import { checkJsonType, readJson } from "../../../common/http-server/body.js";
import { refuse } from "../../../common/http-server/refuse.js";
import { OwnPages, sameSecret } from "../../../common/http-server/own-pages.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { Policy } from "../../policy/policies.js";
import { BatchAdmission } from "./batch-admission.js";
import { completions } from "./completions.js";
import { dialectOf, dialectPosts } from "./dialects/registry.js";
import { generate } from "./generate.js";
import type { CallRecorder } from "./handler.js";
import { ApiError, EventStream, toApiError } from "./http/api-error.js";
import { AnswerStore } from "./kept/answer-store.js";
import { refuseOversized } from "./refuse-oversized.js";
import { TextWork } from "./text-work.js";
import { detokenize, tokenize } from "./tokenize.js";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";

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
    const { authorization = "", "x-api-key": other } = request.headers;
    const sent =
      /^Bearer (.+)$/i.exec(authorization)?.[1] ?? (typeof other === "string" ? other : undefined);
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

/** For whom a request is answered. */
export interface Admitted {
  /** The path that is meant. */
  path: string;
  recorder?: CallRecorder;
  /** Answers that whoever asks may name. Default: those that the server gave to anyone. */
  answers?: AnswerStore;
  /** Ends the request when it is aborted. */
  signal?: AbortSignal;
  /** Answers the request in the server's place; what it gives is sent as JSON, text as it is. */
  answer?: (body: Record<string, unknown>, signal: AbortSignal) => unknown;
}

/** What stands in front of a server: it decides who may ask, in place of the server's own rule. */
export interface ServerHost {
  /** Throws where a request may not be answered. */
  admit(request: IncomingMessage, path: string): Admitted;
}

export interface ServeOptions {
  /** The model's name in requests; `any`: whatever a request names. Default: the policy's. */
  model?: string;
  /** Default: a free port. */
  port?: number;
  /** Default 127.0.0.1. Beyond this machine a key is needed. */
  host?: string;
  /** Name of the environment variable that holds the key that clients must send. Default: no key. */
  apiKeyEnv?: string;
  /** Sequences decoded at the same time. Default 64. */
  maxRows?: number;
  /** Requests that may wait for their turn; more get 429. Default 256. */
  maxQueue?: number;
  /** Bytes a request may have. Default 4 MiB. */
  maxBytes?: number;
  /** Told one line per finished request: method, path, status, milliseconds. */
  log?: (line: string) => void;
}

const rules: OptionRules<ServeOptions> = {
  model: "text?",
  port: integer(0, 65_535),
  host: "text?",
  apiKeyEnv: "text?",
  maxRows: integer(1),
  maxQueue: integer(0),
  maxBytes: integer(1),
  log: "function?",
};

/**
 * A policy behind OpenAI's and Anthropic's HTTP interfaces, so that anything can use it: `/v1/models`,
 * `/v1/completions`, `/v1/chat/completions`, `/v1/responses`, `/v1/messages`, `/inference/v1/generate`, `/tokenize`,
 * `/detokenize` and `/health`.
 *
 * All requests share the policy's one continuous batch. A client that hangs up frees its sequences.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 * import { Policy } from "arpo-lab/policy";
 * import { PolicyServer } from "arpo-lab/experimental/serve";
 *
 * // Usually: await Policy.load("data/models/tiny"). Here, a small model that has learnt nothing.
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
 * const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 7);
 * const policy = Policy.fromModel(model, tokenizer, { name: "small" });
 *
 * const server = await PolicyServer.start(policy);
 * const response = await fetch(`${server.url}/completions`, {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: JSON.stringify({ model: "small", prompt: "low", max_tokens: 5, seed: 1 }),
 * });
 * const { usage } = await response.json();
 * assert.ok(usage.completion_tokens <= 5);
 * await server.stop();
 * policy.dispose();
 * ```
 */
export class PolicyServer {
  readonly model: string;
  readonly #anyModel: boolean;
  readonly #policy: Policy;
  readonly #server: Server;
  readonly #access: Access;
  readonly #admission: BatchAdmission;
  readonly #options: ServeOptions;
  readonly #texts: TextWork;
  readonly #answers = new AnswerStore();
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #created = Math.floor(Date.now() / 1000);
  #url = "";
  /** Set by `startBehind`. */
  #host: ServerHost | undefined;

  private constructor(policy: Policy, options: ServeOptions) {
    checkArguments("serve a policy", { policy }, { policy: "policy" });
    checkOptions("serve a policy", options, rules);
    const { host = "127.0.0.1", maxRows = 64, maxQueue = 256, apiKeyEnv } = options;
    const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
    if (apiKeyEnv !== undefined && !key) {
      throw new RangeError(
        `Cannot serve a policy: the environment variable ${apiKeyEnv} must hold a key, got none`,
      );
    }
    this.#anyModel = options.model === "any";
    this.model = this.#anyModel ? policy.name : (options.model ?? policy.name);
    this.#policy = policy;
    this.#options = options;
    this.#access = new Access(host, key);
    this.#texts = new TextWork(policy.tokenizer);
    this.#admission = new BatchAdmission(maxRows, maxQueue);
    this.#server = createServer((request, response) => {
      const answer = this.#answer(request, response).finally(() => this.#running.delete(answer));
      this.#running.add(answer);
    });
  }

  /** Listens; the address is `url`. */
  static async start(policy: Policy, options: ServeOptions = {}): Promise<PolicyServer> {
    return PolicyServer.startBehind(undefined, policy, options);
  }

  /** @internal The same behind a host, which decides who may ask and keeps what is answered. */
  static async startBehind(
    behind: ServerHost | undefined,
    policy: Policy,
    options: ServeOptions,
  ): Promise<PolicyServer> {
    const server = new PolicyServer(policy, options);
    server.#host = behind;
    const { host = "127.0.0.1", port = 0 } = options;
    server.#server.listen(port, host);
    try {
      await once(server.#server, "listening");
    } catch (error) {
      throw new RangeError(
        `Cannot serve: ${host} must be an address of this machine with port ${port} free, got ${(error as NodeJS.ErrnoException).code}`,
        { cause: error },
      );
    }
    const { port: taken } = server.#server.address() as AddressInfo;
    server.#url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${taken}/v1`;
    return server;
  }

  /** The base address for clients, up to and including `/v1`. */
  get url(): string {
    return this.#url;
  }

  /** Sequences being decoded and requests waiting for their turn. */
  load(): { rows: number; waiting: number } {
    return { rows: this.#admission.running, waiting: this.#admission.waiting };
  }

  /** Takes no more requests, lets those that run finish for so long, then ends them. */
  async stop(graceMs = 0): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => {
      this.#ending.abort(
        new ApiError(503, "The server is ending.", { type: "server_error", code: "stopping" }),
      );
    }, graceMs);
    await Promise.allSettled([...this.#running]);
    clearTimeout(timer);
    this.#server.closeAllConnections();
    await this.#texts.stop();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort(new Error("the client hung up"));
    });
    let path = (request.url ?? "/").split("?")[0]!;
    try {
      if (!this.#host) this.#access.check(request);
      const admitted = this.#host?.admit(request, path) ?? { path };
      ({ path } = admitted);
      const ends = [
        gone.signal,
        this.#ending.signal,
        ...(admitted.signal ? [admitted.signal] : []),
      ];
      await this.#route(request, response, admitted, AbortSignal.any(ends));
    } catch (error) {
      if (!gone.signal.aborted) this.#refuse({ request, response, path }, error);
    }
    const status = gone.signal.aborted ? "hung up" : String(response.statusCode);
    const took = (performance.now() - began).toFixed(0);
    // A path may hold a key where the request was refused.
    if (this.#host)
      path = path.replace(/^\/+s\/+[^/]*/i, "/s/KEY").replace(/sk-arpo-[^/]*/gi, "KEY");
    this.#options.log?.(`${request.method ?? ""} ${path} ${status} ${took} ms`);
  }

  async #route(
    request: IncomingMessage,
    response: ServerResponse,
    { path, recorder, answers = this.#answers, answer }: Admitted,
    signal: AbortSignal,
  ): Promise<void> {
    // What a model wrote must not be taken for a page.
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("content-security-policy", "default-src 'none'; sandbox");
    const { method = "" } = request;
    const handling = {
      policy: this.#policy,
      model: this.model,
      anyModel: this.#anyModel,
      admission: this.#admission,
      texts: this.#texts,
      response,
      signal,
      answers,
      ...defined({ recorder }),
    };
    const json = (value: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (answer) {
      if (method === "POST") checkJsonType(request);
      const asked =
        method === "POST" ? await readJson(request, this.#options.maxBytes ?? 4 * 2 ** 20) : {};
      const said = await answer(asked, signal);
      if (typeof said !== "string") json(said);
      else response.writeHead(200, { "content-type": "application/x-ndjson" }).end(said);
      return;
    }
    const gets: Record<string, () => unknown> = {
      "/health": () => ({ status: "ok", ...this.load() }),
      "/v1/models": () => ({ object: "list", data: [this.#described()] }),
      [`/v1/models/${encodeURIComponent(this.model)}`]: () => this.#described(),
    };
    const posts: Record<string, (body: Record<string, unknown>) => unknown> = {
      "/v1/completions": (body) => completions(handling, body),
      "/inference/v1/generate": (body) => generate(handling, body),
      "/tokenize": (body) => tokenize(handling, body),
      "/detokenize": (body) => detokenize(handling, body),
    };
    const asked = Object.hasOwn(dialectPosts, path) ? dialectPosts[path] : undefined;
    const answered = asked && ((body: Record<string, unknown>) => asked(handling, body));
    const named = this.#anyModel && path.startsWith("/v1/models/");
    const [get, post] = [named ? () => this.#described() : gets[path], answered ?? posts[path]];
    if (get && (method === "GET" || method === "HEAD")) {
      json(get());
    } else if (post && method === "POST") {
      checkJsonType(request);
      const body = await readJson(request, this.#options.maxBytes ?? 4 * 2 ** 20);
      refuseOversized(this.#policy, body, this.#options.maxRows ?? 64);
      const said = await post(body);
      if (said !== undefined) json(said);
    } else if (get ?? post) {
      throw new ApiError(405, `${path} does not take ${method}.`, {
        headers: { allow: get ? "GET, HEAD" : "POST" },
      });
    } else if (path.startsWith("/v1/models/")) {
      throw new ApiError(404, `The only model here is '${this.model}'.`, {
        code: "model_not_found",
        param: "model",
      });
    } else {
      throw new ApiError(404, `There is no ${path} here.`, { code: "unknown_url" });
    }
  }

  #described(): object {
    return {
      id: this.model,
      object: "model",
      created: this.#created,
      owned_by: "arpo-lab",
      max_model_len: this.#policy.contextLength,
    };
  }

  /** Sends an error; in the middle of a stream as its last event. */
  #refuse(
    asked: { request: IncomingMessage; response: ServerResponse; path: string },
    error: unknown,
  ): void {
    const { request, response, path } = asked;
    const known = toApiError(error);
    const dialect = dialectOf(path);
    if (response.headersSent) {
      const { event, data } = dialect.broken(known);
      const stream = new EventStream(response);
      stream.send(data, event);
      stream.close();
      return;
    }
    refuse(request, response, {
      status: known.status,
      headers: { "content-type": "application/json", ...known.headers },
      text: JSON.stringify(dialect.refused(known)),
    });
  }
}
