import { z } from "#zod";
import { Semaphore } from "../../../base/concurrency/semaphore.js";
import { pause } from "../../../base/http/pause.js";
import { HttpError } from "../../../base/http/request-json.js";
import * as answers from "./answers.js";
import { TinkerError, TinkerSessionOver } from "./errors.js";
import { type Call, reasonOf, TinkerHttp } from "./http.js";
import { type TinkerConnection, tinkerSettings } from "./settings.js";

const tryAgain = z.looseObject({
  type: z.literal("try_again"),
  queue_state: z.string().optional(),
});
const failed = z.looseObject({
  error: z.string(),
  category: z.string().optional(),
  status: z.string().optional(),
});

/** What a piece of work at the server is awaited with. */
interface Awaited {
  doing: string;
  requestId: string;
  busy?: () => void;
  signal?: AbortSignal;
}

const category = (said: string | undefined) =>
  said === "user" || said === "server" ? said : "unknown";

/**
 * Waits for a piece of work: asks until it is done, has failed, or took too long. Asking changes nothing,
 * so whatever goes wrong with a question is no reason to give the work up.
 */
async function awaitFuture(http: TinkerHttp, work: Awaited): Promise<unknown> {
  const { doing, requestId, signal } = work;
  const { workMs, attempts, note } = http.settings;
  const until = Date.now() + workMs;
  let [failures, pauses, saidPaused] = [0, 0, false];
  while (Date.now() < until) {
    signal?.throwIfAborted();
    let wait: number;
    try {
      const answer = await http.once({
        doing,
        path: "retrieve_future",
        body: { request_id: requestId, allow_metadata_only: false },
        signal,
      });
      failures = 0;
      const again = tryAgain.safeParse(answer);
      if (!again.success) return finished(doing, answer);
      if (again.data.queue_state?.startsWith("paused")) {
        work.busy?.();
        if (!saidPaused)
          note(`arpo-lab: the Tinker server holds work back: ${again.data.queue_state}`);
        saidPaused = true;
      }
      wait = http.wait(Math.min(pauses++, 4));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      // A question that the server kept open until it was dropped: nothing has failed.
      const pending = error.status === 408 || error.fault === "timeout";
      if (!pending) {
        const final = error.status !== undefined && !error.retry;
        if (final || ++failures >= attempts) throw lost(error, requestId);
        if (error.status === 429) work.busy?.();
      }
      wait = http.wait(pending ? 0 : failures - 1, error);
    }
    await pause(Math.max(0, Math.min(wait, until - Date.now())), signal);
  }
  throw new TinkerError(
    `Cannot ${doing}: work ${requestId} must be done within ${workMs} ms, got no end of it`,
    "server",
  );
}

/** What was answered, unless that is a failure. */
function finished(doing: string, answer: unknown): unknown {
  const refusal = failed.safeParse(answer);
  if (!refusal.success) return answer;
  const { error, category: whose } = refusal.data;
  throw new TinkerError(`Cannot ${doing}: the server must do it, got ${error}`, category(whose));
}

function lost(error: HttpError, requestId: string): TinkerError {
  const reason = reasonOf(error);
  const gone = error.status === 404 || error.status === 410;
  const why = gone ? `it no longer knows work ${requestId}, as after a restart` : reason;
  return new TinkerError(
    why === undefined ? error.message : `${error.message}: ${why}`,
    !gone && error.status !== undefined && error.status < 500 ? "user" : "server",
  );
}

/** How many requests may be under way: one more after each that succeeds, half where the server is busy. */
class AdaptiveConcurrency {
  readonly #semaphore: Semaphore;
  readonly #most: number;

  constructor(most: number) {
    this.#semaphore = new Semaphore(most);
    this.#most = most;
  }

  /** How many may be under way now. */
  get limit(): number {
    return this.#semaphore.permits;
  }

  run<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#semaphore.run(async () => {
      const done = await request();
      this.#semaphore.permits = Math.min(this.#most, this.limit + 1);
      return done;
    }, signal);
  }

  /** The server has too much to do. */
  halve(): void {
    this.#semaphore.permits = Math.max(1, Math.floor(this.limit / 2));
  }
}

/** Who asks, in a session's own words; servers keep it beside their version of it. */
const sdkVersion = "0.38.0";

/** A model that a server can train or sample from. */
export interface ServerModel {
  name: string;
  contextLength?: number;
}

/** A call whose answer is only a number to wait with. */
export interface WorkCall extends Call {
  /** Counts against the samples under way. */
  gated?: boolean;
}

/**
 * A session at a Tinker server (Thinking Machines' service, SkyRL's, verl's recipe): calls, the work
 * they start, and the heartbeat that keeps it alive. Speaks the API's JSON.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TinkerClient } from "arpo-lab/experimental/scale";
 *
 * // Usually: await TinkerClient.connect("https://…"), with the key in TINKER_API_KEY.
 * await assert.rejects(TinkerClient.connect("ftp://host"), /url must be an http or https address/);
 * const nobody = TinkerClient.connect("http://127.0.0.1:9", { attempts: 1 });
 * await assert.rejects(nobody, /Cannot open a Tinker session: .*ECONNREFUSED/);
 * ```
 */
export class TinkerClient {
  readonly #http: TinkerHttp;
  readonly #concurrency: AdaptiveConcurrency;
  readonly #sequences = new Map<string, number>();
  readonly #stop = new AbortController();
  #beat: ReturnType<typeof setTimeout> | undefined;
  #over: string | undefined;

  private constructor(
    http: TinkerHttp,
    readonly sessionId: string,
  ) {
    this.#http = http;
    this.#concurrency = new AdaptiveConcurrency(http.settings.concurrency);
    this.#schedule();
  }

  /** Opens a session. The key is read from the environment, and from nowhere else. */
  static async connect(url: string, options: TinkerConnection = {}): Promise<TinkerClient> {
    const http = new TinkerHttp(tinkerSettings(url, options));
    const answer = await http.call({
      doing: "open a Tinker session",
      path: "create_session",
      body: {
        tags: ["arpo-lab"],
        user_metadata: null,
        sdk_version: sdkVersion,
        type: "create_session",
      },
    });
    const read = parse("open a Tinker session", answers.session, answer);
    for (const line of [read.info_message, read.warning_message, read.error_message]) {
      if (line) http.settings.note(`arpo-lab: the Tinker server says: ${line}`);
    }
    return new TinkerClient(http, read.session_id);
  }

  /** The address that is asked. */
  get url(): string {
    return this.#http.settings.url;
  }

  /** Samples that may be under way at once now. */
  get width(): number {
    return this.#concurrency.limit;
  }

  /** Whether the session still is. */
  get alive(): boolean {
    return this.#over === undefined;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#http.settings.headers;
  }

  get timeoutMs(): number {
    return this.#http.settings.timeoutMs;
  }

  note(line: string): void {
    this.#http.settings.note(line);
  }

  /** The next number in a row of calls that a server does in order. */
  next(sequence: string): number {
    const number = (this.#sequences.get(sequence) ?? 0) + 1;
    this.#sequences.set(sequence, number);
    return number;
  }

  /** Makes a call and reads its answer. */
  async call<T>(call: Call, read: z.ZodType<T>): Promise<T> {
    this.#check(call.doing);
    const answer = await this.#http.call({ ...call, signal: this.#signal(call.signal) });
    return parse(call.doing, read, answer);
  }

  /** Makes a call that starts work and reads what came of the work. */
  async work<T>(call: WorkCall, read: z.ZodType<T>): Promise<T> {
    const busy = () => this.#concurrency.halve();
    const run = async () => {
      const { request_id: requestId } = await this.call({ ...call, busy }, answers.future);
      const signal = this.#signal(call.signal);
      const done = await awaitFuture(this.#http, { doing: call.doing, requestId, busy, signal });
      return parse(call.doing, read, done);
    };
    try {
      return await (call.gated ? this.#concurrency.run(run, call.signal) : run());
    } catch (error) {
      // A session that ended takes its models with it: that, and not the model, is what is missing.
      if (this.#over === undefined && error instanceof TinkerError) await this.#beatNow();
      if (this.#over !== undefined && !(error instanceof TinkerSessionOver))
        this.#check(call.doing);
      throw error;
    }
  }

  /** What the server can train and sample from. */
  async models(): Promise<ServerModel[]> {
    const doing = "ask a Tinker server what it has";
    const call = { doing, path: "get_server_capabilities" };
    const { supported_models: models } = await this.call(call, answers.capabilities);
    return models.flatMap(({ model_name: name, max_context_length: contextLength }) =>
      name ? [{ name, ...(contextLength ? { contextLength } : {}) }] : [],
    );
  }

  /** Whether the server is there. */
  async healthy(): Promise<boolean> {
    const call = { doing: "ask a Tinker server how it is", path: "healthz" };
    try {
      const { status } = await this.call(call, z.looseObject({ status: z.string() }));
      return status === "ok";
    } catch (error) {
      if (error instanceof HttpError || error instanceof TinkerError) return false;
      throw error;
    }
  }

  /** Stops the heartbeat and whatever is under way; the server ends the session by itself. */
  close(): void {
    clearTimeout(this.#beat);
    this.#over ??= "closed";
    this.#stop.abort(
      new TinkerSessionOver("Cannot go on: the Tinker session must be open, got closed"),
    );
  }

  #signal(own: AbortSignal | undefined): AbortSignal {
    return own ? AbortSignal.any([own, this.#stop.signal]) : this.#stop.signal;
  }

  #check(doing: string): void {
    if (this.#over === undefined) return;
    throw new TinkerSessionOver(
      `Cannot ${doing}: the Tinker session must be alive, got ${this.#over}; what was saved is resumed in a new one`,
    );
  }

  #schedule(): void {
    this.#beat = setTimeout(() => {
      void this.#beatNow().then(() => {
        if (this.#over === undefined) this.#schedule();
      });
    }, this.#http.settings.heartbeatMs);
    this.#beat.unref();
  }

  async #beatNow(): Promise<void> {
    try {
      await this.#http.once({
        doing: "keep a Tinker session alive",
        path: "session_heartbeat",
        body: { session_id: this.sessionId, type: "session_heartbeat" },
        signal: this.#stop.signal,
      });
    } catch (error) {
      // One beat that gets lost is no end.
      if (!(error instanceof HttpError)) return;
      if (error.status === 404 || error.status === 410) this.#over ??= "one that the server ended";
    }
  }
}

function parse<T>(doing: string, schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new TinkerError(
    `Cannot ${doing}: the server must answer as Tinker's API does, got ${z.prettifyError(read.error)}`,
    "server",
  );
}
