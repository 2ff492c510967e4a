import type { IncomingMessage } from "node:http";
import {
  checkOptions,
  integer,
  milliseconds,
  fromTo,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { EpisodeScore } from "../../environments/environment.js";
import type { Policy } from "../../policy/policies.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import type { RewardFunction } from "../../reward/reward-function.js";
import { score } from "../../reward/score-trees.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { ApiError } from "../serve/http/api-error.js";
import type { CallRecorder } from "../serve/handler.js";
import { Access, type Admitted, PolicyServer } from "../serve/policy-server.js";
import { type Captured, CaptureSession, scoreOf, type SessionStart } from "./capture-session.js";
import { rolloutRecord } from "./rollout-record.js";
import { treesOfSessions } from "./trees-of-sessions.js";

export interface CaptureOptions {
  /** Calls that a session may make. Default 256. */
  maxCalls?: number;
  /** A session that asks nothing for so long takes no more calls. Default 600,000. */
  idleMs?: number;
  /** Sessions that may be kept; `delete` makes room. Default 1,024. */
  maxSessions?: number;
  /** Sampling temperature of every call. Default: what the program asks for. */
  temperature?: number;
  /** What the sampling of all sessions comes from. Default 0. */
  seed?: number;
  /** Default: a free port. */
  port?: number;
  /** Default 127.0.0.1. Beyond this machine `adminKeyEnv` is needed. */
  host?: string;
  /** Name of the environment variable with the key for `/sessions`. Default: any program of this machine. */
  adminKeyEnv?: string;
  /** Sequences decoded at the same time. Default 64. */
  maxRows?: number;
  /** Told one line per finished request, without keys. */
  log?: (line: string) => void;
}

const rules: OptionRules<CaptureOptions> = {
  maxCalls: integer(1),
  idleMs: milliseconds,
  maxSessions: integer(1),
  temperature: fromTo(0, 100),
  seed: integer(0),
  port: integer(0, 65_535),
  host: "text?",
  adminKeyEnv: "text?",
  maxRows: integer(1),
  log: "function?",
};

const startRules: OptionRules<SessionStart> = {
  replay: "object?",
  at: "object?",
  task: "object?",
  group: "text?",
  seed: integer(0),
};

/** What else than chats programs ask for, and what to do about it. */
const otherDialects: Record<string, string> = {
  "/inference/v1/generate": "whoever asks there keeps its own record: let it ask `arpo-lab serve`",
  "/v1/completions": "a completion belongs to no conversation: send a chat",
};

/** The key a request carries, and the path without it. */
function keyOf({ headers }: IncomingMessage, path: string): { key?: string; path: string } {
  const inPath = /^\/s\/([^/]+)(\/.*)$/.exec(path);
  if (inPath) return { key: inPath[1]!, path: inPath[2]! };
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  const other = headers["x-api-key"];
  return { path, ...defined({ key: bearer ?? (typeof other === "string" ? other : undefined) }) };
}

/** A capture server: an OpenAI-like endpoint that keeps what programs ask and what the model answers. */
export class CaptureServer {
  readonly #policy: Policy;
  readonly #options: CaptureOptions;
  readonly #access: Access;
  readonly #byId = new Map<string, CaptureSession>();
  readonly #byKey = new Map<string, CaptureSession>();
  readonly #ended = new Map<string, Captured>();
  #server: PolicyServer | undefined;
  #count = 0;

  private constructor(policy: Policy, options: CaptureOptions, access: Access) {
    this.#policy = policy;
    this.#options = options;
    this.#access = access;
  }

  static async start(policy: Policy, options: CaptureOptions = {}): Promise<CaptureServer> {
    checkOptions("capture", options, rules);
    const { host = "127.0.0.1", port, adminKeyEnv, maxRows, log } = options;
    const key = adminKeyEnv === undefined ? undefined : process.env[adminKeyEnv];
    if (adminKeyEnv !== undefined && !key) {
      throw new RangeError(
        `Cannot capture: the environment variable ${adminKeyEnv} must hold a key, got none`,
      );
    }
    const capture = new CaptureServer(policy, options, new Access(host, key));
    capture.#server = await PolicyServer.startBehind(
      { admit: (request, path) => capture.#admit(request, path) },
      policy,
      {
        model: "any",
        host,
        ...defined({ port, apiKeyEnv: adminKeyEnv, maxRows, log }),
      },
    );
    return capture;
  }

  /** The address without a path, such as `http://127.0.0.1:8320`. */
  get url(): string {
    return this.#server!.url.slice(0, -"/v1".length);
  }

  /** Begins a session: a key for one run of a program. */
  session(start: SessionStart = {}): CaptureSession {
    checkOptions("begin a session", start, startRules);
    const { maxSessions = 1024, seed = 0, maxCalls = 256, temperature } = this.#options;
    if (this.#byId.size >= maxSessions) {
      throw new RangeError(
        `Cannot begin a session: at most ${maxSessions} are kept (maxSessions), and there are so many; delete those you have read`,
      );
    }
    const number = this.#count++;
    const session = new CaptureSession(
      `s${number}`,
      { seed: (seed + number) % 2 ** 52, ...start },
      {
        author: this.#policy,
        limits: { maxCalls, ...defined({ temperature }) },
        origin: () => this.url,
      },
    );
    this.#byId.set(session.id, session);
    this.#byKey.set(session.key, session);
    return session;
  }

  /**
   * Ends a session with what it was worth. A function judges the last trajectory of the conversation that the
   * session began with.
   */
  async end(
    session: CaptureSession,
    reward?: number | EpisodeScore | RewardFunction,
  ): Promise<Captured> {
    const captured = await session.end(typeof reward === "function" ? undefined : reward);
    if (typeof reward === "function" && captured.reward === undefined) {
      captured.reward = await judged(captured, reward);
      if (captured.refused === undefined)
        captured.trees = treesOfSessions([captured], this.#policy);
    }
    if (this.#byId.has(session.id)) this.#ended.set(session.id, captured);
    return captured;
  }

  /** Forgets a session; its calls under way end. */
  delete(session: CaptureSession): void {
    session.close("it was deleted");
    this.#byId.delete(session.id);
    this.#byKey.delete(session.key);
    this.#ended.delete(session.id);
  }

  /** The trees of all sessions that have ended, or of those of one group: one for each first prompt. */
  trees(group?: string): RolloutTree[] {
    const order = [...this.#byId.keys()].flatMap((id) => this.#ended.get(id) ?? []);
    const chosen = order.filter(
      (one) => one.refused === undefined && (group === undefined || one.group === group),
    );
    return treesOfSessions(chosen, this.#policy);
  }

  /** Answers of ended sessions that were dropped, because the client asked again. */
  get retries(): number {
    const calls = [...this.#ended.values()].flatMap((one) => one.calls);
    return calls.filter(({ retriedBy }) => retriedBy !== undefined).length;
  }

  /** Ends every session without a reward that has none, and stops. */
  async stop(graceMs = 0): Promise<void> {
    for (const session of this.#byId.values()) session.close("the server stops");
    await this.#server?.stop(graceMs);
  }

  #admit(request: IncomingMessage, path: string): Admitted {
    if (path === "/health") return { path };
    if (path === "/sessions" || path.startsWith("/sessions/") || path === "/trees") {
      this.#access.check(request);
      return { path, answer: (body) => this.#administer(request.method ?? "", path, body) };
    }
    const { key, path: asked } = keyOf(request, path);
    const session = key === undefined ? undefined : this.#byKey.get(key);
    if (!session) {
      throw new ApiError(
        401,
        key === undefined
          ? "You must send a session's key: POST /sessions gives one."
          : "The key that was sent belongs to no session: POST /sessions gives one.",
        { type: "authentication_error", code: "invalid_api_key" },
      );
    }
    this.#closeIdle(session);
    const instead = otherDialects[asked];
    if (instead !== undefined) {
      throw new ApiError(
        404,
        `A captured session takes /v1/chat/completions, /v1/responses and /v1/messages, not ${asked}: ${instead}.`,
        {
          code: "unknown_url",
        },
      );
    }
    const retry = Number(request.headers["x-stainless-retry-count"]);
    const recorder: CallRecorder = {
      begin: (call) => session.begin({ ...call, ...(retry > 0 ? { retry } : {}) }),
    };
    return { path: asked, recorder, answers: session.answers, signal: session.signal };
  }

  #closeIdle(session: CaptureSession): void {
    const { idleMs = 600_000 } = this.#options;
    if (session.busy || performance.now() - session.touched < idleMs) return;
    session.close(`it asked nothing for ${idleMs} ms (idleMs)`);
  }

  async #administer(method: string, path: string, body: Record<string, unknown>): Promise<unknown> {
    if (path === "/trees") return treesToJsonl(this.trees());
    const [, , id, what] = path.split("/");
    if (id === undefined || id === "") {
      if (method !== "POST") return { sessions: [...this.#byId.values()].map((s) => s.summary()) };
      const { task, group, seed } = body as SessionStart;
      const { id: made, key, env } = asked(() => this.session(defined({ task, group, seed })));
      return { id: made, key, base_url: env["OPENAI_BASE_URL"], env };
    }
    const session = this.#byId.get(id);
    if (!session) {
      throw new ApiError(404, `There is no session ${id} here.`, { code: "unknown_session" });
    }
    if (method === "POST" && what === "reward") {
      const reward = asked(() => scoreOf(body as unknown as EpisodeScore));
      await this.end(session, reward);
      return session.summary();
    }
    if (method === "DELETE" && what === undefined) {
      this.delete(session);
      return { deleted: id };
    }
    if (method !== "GET") throw new ApiError(405, `${path} does not take ${method}.`);
    if (what === undefined) return session.summary();
    const captured = this.#ended.get(id);
    if (!captured) {
      throw new ApiError(409, `Session ${id} has not ended: POST /sessions/${id}/reward ends it.`, {
        headers: { "x-should-retry": "false" },
      });
    }
    if (what === "tree") return treesToJsonl(captured.trees);
    if (what === "rollout") return rolloutRecord(captured);
    throw new ApiError(404, `There is no ${path} here.`, { code: "unknown_url" });
  }
}

/** What a function says of a session; one without an answer is worth nothing. */
async function judged({ trees: [tree] }: Captured, reward: RewardFunction): Promise<EpisodeScore> {
  if (!tree) return { score: 0, reason: "the program asked nothing" };
  const { score: found, reason, parts } = (await score(tree, reward)).trajectories.at(-1)!.score;
  return { score: found, reason: reason ?? "", ...defined({ parts }) };
}

/** What a request asks for; where that is refused, it is the request's fault. */
function asked<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new ApiError(400, (error as Error).message);
  }
}

/**
 * Starts a capture server: an endpoint like OpenAI's for agent programs, each run of which becomes trajectories of a
 * `RolloutTree`, with the ids, log-probs and entropies that were sampled.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 * import { Policy } from "arpo-lab/policy";
 * import { capture } from "arpo-lab/experimental/capture";
 *
 * // Usually: await Policy.load("data/models/tiny"). Here, a small model that has learnt nothing.
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 7), tokenizer);
 *
 * const server = await capture(policy);
 * const session = server.session({ task: { id: "sum" } });
 * // Usually a program with these in its environment: session.env
 * await fetch(`${session.env.OPENAI_BASE_URL}/chat/completions`, {
 *   method: "POST",
 *   headers: { "content-type": "application/json", authorization: `Bearer ${session.key}` },
 *   body: JSON.stringify({
 *     model: "any",
 *     messages: [{ role: "user", content: "low" }],
 *     max_tokens: 4,
 *   }),
 * });
 * const { trees } = await server.end(session, 1);
 * assert.equal(trees[0].trajectories[0].outcome?.score, 1);
 * await server.stop();
 * policy.dispose();
 * ```
 */
export async function capture(
  policy: Policy,
  options: CaptureOptions = {},
): Promise<CaptureServer> {
  return CaptureServer.start(policy, options);
}
