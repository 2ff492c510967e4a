import { randomBytes } from "node:crypto";
import { shown } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { EpisodeScore } from "../../environments/environment.js";
import { OpenCalls } from "../../formats/row/message-text.js";
import type { GeneratedToken } from "../../policy/policy.js";
import { SupportList } from "../../policy/token-sets.js";
import { Random } from "../../base/random/random.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { ApiError } from "../serve/http/api-error.js";
import { AnswerStore } from "../serve/kept/answer-store.js";
import type { BegunCall, CallEnding, CallRecorder, OpenCall } from "../serve/handler.js";
import type { RequestMessage } from "../serve/schema/common.js";
import type { CapturedCall, CaptureTask, LinkedCall } from "./captured-call.js";
import { type BranchPoint, CallReplay } from "./call-replay.js";
import { linkCalls } from "./link-calls.js";
import { type Author, type SessionTrajectories, treesOfSessions } from "./trees-of-sessions.js";

/** A captured session: plain data, and the trees that its calls make. */
export interface Captured extends SessionTrajectories {
  /** Every call with its place, those included that no trajectory holds. */
  calls: readonly LinkedCall[];
  /** The trees of this session alone: the conversation it began with, then others that it began. */
  trees: readonly RolloutTree[];
  /** Why it is no branch of the session that it was to repeat: the program asked something else. */
  refused?: string;
}

/** What a session is begun with. */
export interface SessionStart {
  /** What the program is to do; its `prompt`, `groundTruth` and the rest go with the tree. */
  task?: CaptureTask;
  /** Sessions of one group and first prompt are trajectories of one tree. Default: a group of its own. */
  group?: string;
  /** A session that this one repeats: its calls are answered from the record, up to `at`. */
  replay?: Captured;
  /** Where it leaves that session. */
  at?: BranchPoint;
  /** What the sampling comes from. Default: the server's, with the session's number. */
  seed?: number;
}

/** Limits of a session, and how it samples. */
export interface SessionLimits {
  maxCalls: number;
  temperature?: number;
}

const textOf = ({ content }: RequestMessage): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join("");

/** Results behind the last answer in a chat, each with its call. */
function resultsOf(messages: readonly RequestMessage[]): CapturedCall["results"] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  if (last < 0) return [];
  const calls = new OpenCalls();
  const asked = (messages[last]!.tool_calls ?? []).map(({ id, function: called }) => ({
    ...(id ? { id } : {}),
    function: { name: called.name, arguments: called.arguments ?? "" },
  }));
  calls.asked({ role: "assistant", content: "", tool_calls: asked });
  return messages.slice(last + 1).flatMap((message) => {
    if (message.role !== "tool") return [];
    const { tag, input, answer } = calls.answered({
      ...{ role: "tool", content: textOf(message) },
      ...(message.name ? { name: message.name } : {}),
      ...(message.tool_call_id ? { tool_call_id: message.tool_call_id } : {}),
    });
    return [{ name: tag, arguments: input, result: answer }];
  });
}

/** What was sampled of a choice so far. */
class Choice {
  readonly tokens: number[] = [];
  readonly logprobs: number[] = [];
  readonly entropies: number[] = [];
  readonly supports = new SupportList();
  ending: CallEnding | undefined;

  push({ token, logprob, entropy, support }: GeneratedToken): void {
    this.tokens.push(token);
    this.logprobs.push(logprob);
    this.entropies.push(entropy);
    this.supports.push(support);
  }
}

/** One run of a program: what it asked, and what the model answered. */
export class CaptureSession implements CallRecorder {
  readonly id: string;
  /** The API key that the program is given. It is in no record, tree or message. */
  readonly key: string;
  readonly group: string;
  readonly task: CaptureTask;
  readonly seed: number;
  /** What the program was answered, by the ids that it was given. */
  readonly answers = new AnswerStore();
  readonly #author: Author;
  readonly #limits: SessionLimits;
  readonly #calls: CapturedCall[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #prompts = new Map<string, number>();
  readonly #origin: () => string;
  #requests = 0;
  #clock = 0;
  #ended: Captured | undefined;
  #ending: string | undefined;
  readonly #replay: CallReplay | undefined;
  readonly #branch: SessionTrajectories["branch"];
  #refused: string | undefined;
  /** When it was last asked something. */
  touched = performance.now();

  constructor(
    id: string,
    { task, group, seed = 0, replay, at }: SessionStart,
    { author, limits, origin }: { author: Author; limits: SessionLimits; origin: () => string },
  ) {
    this.id = id;
    this.key = `sk-arpo-${randomBytes(24).toString("base64url")}`;
    this.group = group ?? replay?.group ?? id;
    this.task = task ?? replay?.task ?? {};
    this.seed = seed;
    this.#author = author;
    this.#limits = limits;
    this.#origin = origin;
    if ((replay === undefined) !== (at === undefined)) {
      throw new TypeError(
        `Cannot begin a session: replay and at must be given together, got ${replay ? "replay" : "at"} alone`,
      );
    }
    if (!replay || !at) return;
    this.#replay = new CallReplay(replay.calls, at, author.tokenizer);
    this.#branch = { of: replay.id, call: at.call, token: at.token ?? 0 };
  }

  /** What a program's environment variables must be, so that its client asks here. */
  get env(): Record<string, string> {
    const origin = this.#origin();
    return {
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: this.key,
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: this.key,
    };
  }

  /** Aborted when the session ends: calls under way stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The calls so far, linked. */
  get calls(): readonly LinkedCall[] {
    return this.#ended?.calls ?? linkCalls(this.#calls, this.#author.tokenizer);
  }

  /** Whether the session takes no more calls. */
  get closed(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether calls are under way. */
  get busy(): boolean {
    return this.#open.size > 0;
  }

  begin({ prompt, request, body, retry }: BegunCall): OpenCall {
    if (this.#ending !== undefined) {
      throw new ApiError(400, `This session takes no more calls: ${this.#ending}.`, {
        code: "session_ended",
        headers: { "x-should-retry": "false" },
      });
    }
    const { maxCalls } = this.#limits;
    if (this.#requests >= maxCalls) {
      throw new ApiError(
        400,
        `A session may make ${maxCalls} calls, and this one has. Start the capture with a larger maxCalls.`,
        { code: "max_calls" },
      );
    }
    this.touched = performance.now();
    const ids = Int32Array.from(prompt);
    const given = this.#given(ids);
    const from = this.#clock++;
    const number = this.#requests++;
    let done = () => {};
    const over = new Promise<void>((resolve) => (done = resolve));
    this.#open.add(over);
    const { temperature = request.sampling.temperature ?? 1 } = this.#limits;
    const sampling = { ...request.sampling, temperature };
    // The stream follows from the prompt, not from the order in which parallel calls come.
    const key = prompt.join();
    const again = this.#prompts.get(key) ?? 0;
    this.#prompts.set(key, again + 1);
    const random = Random.from(this.seed).split("capture").split(key).split(again);
    const choices = Array.from({ length: request.n }, () => new Choice());
    const results = resultsOf(body.messages);
    const follows = this.#followed(body.messages);
    const own = body.seed === null || body.seed === undefined;
    return {
      number,
      request: { ...request, sampling, ...(own ? { randomState: random.state() } : {}) },
      given,
      token: (index, token) => choices[index]!.push(token),
      finished: (index, ending) => void (choices[index]!.ending = ending),
      closed: (error) => {
        const to = this.#clock++;
        this.touched = performance.now();
        const cut = error === undefined ? undefined : messageOf(error);
        for (const { tokens, logprobs, entropies, supports, ending } of choices) {
          this.#calls.push({
            ...{ id: this.#calls.length, request: number, from, to, temperature, results },
            prompt: ids,
            tokens: Int32Array.from(tokens),
            logprobs: Float32Array.from(logprobs),
            entropies: Float32Array.from(entropies),
            finish: ending?.finish ?? "length",
            calls: ending?.calls ?? [],
            ...defined({
              ...{ retry, follows },
              support: supports.value(),
              stop: ending?.stop,
              cut: ending ? undefined : (cut ?? "it has no end"),
            }),
          });
        }
        this.#open.delete(over);
        done();
      },
    };
  }

  /** The call whose functions the last answer in a chat calls, by the ids that its client was given. */
  #followed(messages: readonly RequestMessage[]): number | undefined {
    const last = messages.findLast(({ role }) => role === "assistant");
    const [answer] = (last?.tool_calls ?? []).flatMap(
      ({ id }) => (id ? this.answers.part(id)?.answer : undefined) ?? [],
    );
    if (!answer) return undefined;
    return this.#calls.find(({ request }) => request === answer.number)?.id;
  }

  /** What a call's answers begin with, where the session repeats another; a call that does not ends it. */
  #given(prompt: Int32Array): OpenCall["given"] {
    if (!this.#replay) return () => undefined;
    try {
      return this.#replay.take(prompt);
    } catch (error) {
      this.#refused ??= (error as Error).message;
      this.close(`it does not repeat the recorded one: ${this.#refused}`);
      throw new ApiError(400, `Cannot branch this program: ${this.#refused}.`, {
        code: "not_repeated",
        headers: { "x-should-retry": "false" },
      });
    }
  }

  /** Takes no more calls, for this reason; those under way end. */
  close(reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = reason;
    this.answers.clear();
    this.#stopping.abort(new ApiError(400, `This session ends: ${reason}.`));
  }

  /** Ends the session with what it was worth. A second end gives the first one's record. */
  async end(reward?: number | EpisodeScore): Promise<Captured> {
    const score = reward === undefined ? undefined : scoreOf(reward);
    this.close("its reward was given");
    await Promise.all(this.#open);
    if (this.#ended) return this.#ended;
    const { id, group, task, seed } = this;
    const calls = linkCalls(this.#calls, this.#author.tokenizer);
    if (this.#branch && !this.#replay!.reached) {
      this.#refused ??= `the run ended before call ${this.#branch.call}`;
    }
    const refused = this.#refused;
    const branch = this.#branch;
    const trajectories: SessionTrajectories = {
      id,
      group,
      task,
      seed,
      calls,
      ...defined({ reward: score, branch }),
    };
    // What is no repetition is no sample of the branch: nothing of it is trained on.
    const trees = refused === undefined ? treesOfSessions([trajectories], this.#author) : [];
    return (this.#ended = { ...trajectories, calls, trees, ...defined({ refused }) });
  }

  /** What it is, without its key. */
  summary(): object {
    const { id, group, task, calls, closed } = this;
    const retries = calls.filter(({ retriedBy }) => retriedBy !== undefined).length;
    return {
      ...{ id, group, task, ended: closed },
      reward: this.#ended?.reward ?? null,
      calls: calls.map((call) => ({
        ...{ id: call.id, parent: call.parent, root: call.root },
        ...{ prompt_tokens: call.prompt.length, completion_tokens: call.tokens.length },
        finish: call.finish,
        ...defined({ rewrite: call.rewrite, retried_by: call.retriedBy, cut: call.cut }),
      })),
      retries,
    };
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** A reward as a score with its reason. */
export function scoreOf(reward: number | EpisodeScore): EpisodeScore {
  const score: EpisodeScore =
    typeof reward === "number" ? { score: reward, reason: "" } : { ...reward };
  const { reason = "", parts } = score;
  if (typeof reason !== "string") {
    throw new TypeError(
      `Cannot end a session: its reward's reason must be text, got ${shown(reason)}`,
    );
  }
  const numbers: unknown[] | undefined =
    parts === undefined || !isRecord(parts) ? undefined : Object.values(parts);
  if (parts !== undefined && !numbers?.every(Number.isFinite)) {
    throw new TypeError(
      `Cannot end a session: its reward's parts must be finite numbers by name, got ${shown(numbers?.find((one) => !Number.isFinite(one)) ?? parts)}`,
    );
  }
  if (Number.isFinite(score.score)) return { ...score, reason };
  throw new RangeError(
    `Cannot end a session: its reward must be a finite number, or { score, reason } with one, got ${String(score.score)}`,
  );
}
