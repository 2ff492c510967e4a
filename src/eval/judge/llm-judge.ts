import { note } from "#platform/note";
import {
  checkOptions,
  either,
  integer,
  type OptionRules,
  required,
  rulesWithout,
} from "../../../common/options/check-options.js";
import { expectManyListeners } from "#platform/process";
import { defined } from "../../../common/options/defined.js";
import { samplingRules } from "../../policy/check-generate.js";
import {
  endpointRules,
  type EndpointOptions,
  webAddress,
  webAddresses,
} from "../../base/http/endpoint-options.js";
import { Endpoints } from "../../base/http/endpoints.js";
import { HttpError } from "../../base/http/request-json.js";
import { judgeVerdict } from "../metrics/judge-verdict.js";
import { JudgeCache } from "./judge-cache.js";
import type { JudgeCost, TokenPrice } from "./judge-cost.js";
import { faultOf, type JudgeFault, JudgeReplyError, readReply, readUsage } from "./read-reply.js";
import { judgePrompt, type JudgeQuestion } from "./judge-prompt.js";

export interface LlmJudgeOptions extends Omit<EndpointOptions, "urls" | "doing" | "onFault"> {
  /** One or more addresses of the same model, each up to and including `/v1`. */
  urls: string | readonly string[];
  /** The model's name at the endpoint; the reference judges with Qwen2.5-72B-Instruct. */
  model: string;
  /** Where verdicts are kept, so that no question is asked twice. Default: nowhere. */
  cacheFile?: string;
  /** Price per million tokens, by model. Default: none, tokens are counted and cost nothing. */
  prices?: Readonly<Record<string, TokenPrice>>;
  /** Default 0. */
  temperature?: number;
  /** Default: the endpoint's own limit. */
  maxTokens?: number;
  /**
   * Ask about predictions that are the answer in other notation too; the verdict stays "right".
   * Default: false, no request is spent on them.
   */
  askEquivalent?: boolean;
  /** Replaces the reference's wording. Default: `judgePrompt`. */
  prompt?: (question: JudgeQuestion) => string;
  /**
   * Takes the lines that are not errors: a cache that was not believed, an endpoint that asks for a long
   * wait. Default: standard error.
   */
  note?: (line: string) => void;
}

const rules: OptionRules<LlmJudgeOptions> = {
  ...rulesWithout(endpointRules, "doing", "onFault"),
  urls: required(either(webAddress, webAddresses)),
  model: "text",
  cacheFile: "path?",
  prices: "object?",
  temperature: samplingRules.temperature,
  maxTokens: integer(1),
  askEquivalent: "boolean?",
  prompt: "function?",
};

/** What the judge said of one prediction. */
interface Judgement {
  correct: boolean;
  /** Its own words. */
  reply?: string;
  /** Why it gave no verdict; `correct` is then whether the strings are equivalent. */
  failure?: string;
  fault?: JudgeFault;
  cached: boolean;
}

/** A reply without a verdict is asked for once more, no matter how often an endpoint may fail. */
const CONTENT_ATTEMPTS = 2;

/**
 * A judge behind any OpenAI-compatible chat endpoint.
 *
 * Questions of a call are asked at the same time, `concurrency` per endpoint; what fails is repeated
 * with growing waits (`Retry-After` counts), and what fails to the end is said to have failed. A wrong
 * key, address or model name stops everything at once.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { LlmJudge } from "arpo-lab/run";
 *
 * // Equal expressions need no judge; nothing listens on port 9.
 * const judge = new LlmJudge({ urls: "http://127.0.0.1:9/v1", model: "m", attempts: 1 });
 * const [right, unknown] = await judge.judge([
 *   { question: "a half?", answer: "\\frac{1}{2}", prediction: "1/2" },
 *   { question: "capital of France?", answer: "Paris", prediction: "the city of Paris" },
 * ]);
 * assert.deepEqual([right.correct, unknown.correct, unknown.fault], [true, false, "connection"]);
 * judge.close();
 * ```
 */
export class LlmJudge {
  readonly name: string;
  readonly #options: LlmJudgeOptions;
  readonly #endpoints: Endpoints;
  readonly #cache: JudgeCache | undefined;
  readonly #cost: Omit<JudgeCost, "price"> = {
    questions: 0,
    equivalent: 0,
    cached: 0,
    requests: 0,
    promptTokens: 0,
    completionTokens: 0,
    withoutUsage: 0,
  };
  readonly #faults = new Map<JudgeFault, number>();

  constructor(options: LlmJudgeOptions) {
    checkOptions("make a judge", options, rules);
    const { urls, concurrency = 50, attempts = 3, backoffMs = 1000, timeoutMs = 120_000 } = options;
    const { longestWaitMs, maxBytes } = options;
    const say = options.note ?? note;
    this.#options = options;
    this.#endpoints = new Endpoints({
      urls: typeof urls === "string" ? [urls] : urls,
      apiKeyEnv: options.apiKeyEnv,
      ...{ concurrency, attempts, backoffMs, timeoutMs, longestWaitMs, maxBytes },
      doing: "ask the judge",
      note: say,
      onFault: (error) => {
        if (wasSent(error)) this.#cost.requests++;
        this.#count(error);
      },
    });
    this.name = options.model;
    if (options.cacheFile !== undefined) this.#cache = new JudgeCache(options.cacheFile, say);
  }

  /**
   * One verdict per question, in order.
   * @param questions questions with the answer to judge and the reference
   */
  async judge(
    questions: readonly JudgeQuestion[],
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Judgement[]> {
    // One that cannot be fixed ends the others too.
    const all = new AbortController();
    const running = new Map<string, Promise<string>>();
    const either = signal ? AbortSignal.any([signal, all.signal]) : all.signal;
    expectManyListeners(either); // every question listens
    return Promise.all(
      questions.map((question) =>
        this.#judgeOne(question, running, either).catch((error: unknown) => {
          all.abort(error);
          throw error;
        }),
      ),
    );
  }

  /** What judging took so far. */
  cost(): JudgeCost {
    const price = this.#options.prices?.[this.#options.model];
    if (!price) return { ...this.#cost };
    const { promptTokens, completionTokens } = this.#cost;
    const sum = (promptTokens * price.prompt + completionTokens * price.completion) / 1e6;
    return { ...this.#cost, price: sum };
  }

  /** How often each fault was met so far, repeated requests included. */
  faults(): Partial<Record<JudgeFault, number>> {
    return Object.fromEntries(this.#faults);
  }

  /** Closes the cache. */
  close(): void {
    this.#cache?.close();
  }

  async #judgeOne(
    question: JudgeQuestion,
    running: Map<string, Promise<string>>,
    signal: AbortSignal,
  ): Promise<Judgement> {
    const { prediction, answer } = question;
    this.#cost.questions++;
    const equivalent = judgeVerdict("", prediction, answer);
    if (equivalent && !this.#options.askEquivalent) {
      this.#cost.equivalent++;
      return { correct: true, cached: false };
    }
    const { model, temperature = 0, maxTokens, prompt = judgePrompt } = this.#options;
    const body = {
      model,
      messages: [{ role: "user", content: prompt(question) }],
      temperature,
      ...defined({ max_tokens: maxTokens }),
    };
    const key = JudgeCache.key(model, body);
    const known = this.#cache?.get(key, model);
    const shared = running.get(key);
    const cached = known !== undefined || shared !== undefined;
    if (cached) this.#cost.cached++;
    try {
      const asked = shared ?? (known === undefined ? this.#ask(key, body, signal) : undefined);
      // Equal questions of a call share the answer.
      if (asked && !shared) running.set(key, asked);
      const reply = known ?? (await asked)!;
      return { correct: judgeVerdict(reply, prediction, answer), reply, cached };
    } catch (error) {
      const fault = faultOf(error);
      if (signal.aborted || fault === undefined || isFatal(error)) throw error;
      const reply = error instanceof JudgeReplyError ? error.reply : undefined;
      return {
        correct: equivalent,
        ...defined({ reply }),
        failure: (error as Error).message,
        fault,
        cached,
      };
    }
  }

  async #ask(key: string, body: unknown, signal: AbortSignal): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#endpoints.post("chat/completions", body, { signal });
      this.#cost.requests++;
      const usage = readUsage(answer);
      if (usage) {
        this.#cost.promptTokens += usage.promptTokens;
        this.#cost.completionTokens += usage.completionTokens;
      } else this.#cost.withoutUsage++;
      try {
        const reply = readReply(answer);
        this.#cache?.set(key, this.#options.model, reply);
        return reply;
      } catch (error) {
        this.#count(error);
        if (attempt >= CONTENT_ATTEMPTS) throw error;
      }
    }
  }

  #count(error: unknown): void {
    const fault = faultOf(error);
    if (fault) this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1);
  }
}

/** Whether there was a request at all: without a key there is none. */
const wasSent = (error: unknown) =>
  !(error instanceof HttpError && error.status === undefined && !error.retry);

/** A key, an address or a model name that no repetition fixes: no item could be judged. */
function isFatal(error: unknown): boolean {
  if (!(error instanceof HttpError)) return false;
  return error.status === 401 || error.status === 403 || error.status === 404 || !wasSent(error);
}
