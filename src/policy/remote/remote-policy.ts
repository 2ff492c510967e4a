import { defined } from "../../../common/options/defined.js";
import { generate, type GenerationOptions, type Generations } from "../generate.js";
import type { Prompt } from "../prompt.js";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  oneOf,
  optionsFor,
  type OptionRules,
  required,
} from "../../../common/options/check-options.js";
import type { ChatMessage, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { checkGenerate, refuseConstraint } from "../check-generate.js";
import type { GenerateOptions, Policy, Sequence } from "../policy.js";
import type { Segment, Session } from "../policy.js";
import { tellAll } from "../tell-all.js";
import { type Support, SupportList } from "../token-sets.js";
import * as exact from "../../base/exact/index.js";
import { cutAtStop, readAnswer, type RemoteToken } from "./answer.js";
import {
  extensions,
  remoteApis,
  requestBody,
  takesText,
  type Dialect,
  type RemoteApi,
  type RemoteMessage,
} from "./dialect.js";
import { Endpoints } from "../../base/http/endpoints.js";
import type { EndpointHealth } from "../../base/http/endpoint-state.js";
import { endpointRules, type EndpointOptions } from "../../base/http/endpoint-options.js";

export interface RemotePolicyOptions extends Partial<EndpointOptions> {
  /** The model's name at the endpoint. */
  model: string;
  /** The same tokenizer as the endpoint's: sequences are tokens, and tags are found in them. */
  tokenizer: Tokenizer;
  /** The endpoint's longest sequence. */
  contextLength: number;
  /** Default `vllm`. */
  dialect?: Dialect;
  /** Default `completions`: sequences are sent as they are. `chat` lets the endpoint write the prompt. */
  api?: RemoteApi;
  /** Alternatives asked for per token. Default 10, what the reference's entropy uses. */
  topLogprobs?: number;
}

export const remoteRules: OptionRules<RemotePolicyOptions> = {
  ...endpointRules,
  model: "text",
  tokenizer: "tokenizer",
  contextLength: required(integer(1)),
  dialect: oneOf(Object.keys(extensions)),
  api: oneOf(remoteApis),
  topLogprobs: integer(0),
};

interface RemoteSequence extends Sequence {
  tokens: number[];
  promptLength: number;
  /** The chat that the prompt was made of. */
  messages: readonly ChatMessage[] | undefined;
  /** Shared with its forks: they go to one endpoint, which remembers what they have in common. */
  family: object;
}

/**
 * A model behind one or more OpenAI-compatible endpoints (vLLM, SGLang, llama.cpp).
 *
 * What an endpoint cannot say is NaN: entropies of the full distribution unless it is `arpo-lab serve`,
 * log-probs where it gives none. `entropyMeaning` says what entropies computed from its answers are worth.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RemotePolicy } from "arpo-lab/policy";
 * import type { Tokenizer } from "arpo-lab/model";
 *
 * const letters: Tokenizer = {
 *   vocabSize: 128, eosId: 1, eosIds: [1], padId: 0,
 *   encode: (text) => [...text].map((c) => c.charCodeAt(0)),
 *   decode: (ids) => String.fromCharCode(...Array.from(ids)),
 *   chat: (messages) => messages.map((m) => m.content).join("\n"),
 * };
 * const policy = new RemotePolicy({
 *   urls: ["http://localhost:8000/v1"], model: "m", tokenizer: letters, contextLength: 4096,
 * });
 * assert.match(policy.entropyMeaning, /not known yet/);
 * ```
 */
export class RemotePolicy implements Policy {
  readonly sampler = "remote";
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  readonly #options: RemotePolicyOptions & {
    dialect: Dialect;
    api: RemoteApi;
    topLogprobs: number;
  };
  readonly #endpoints: Endpoints;
  readonly #seen = { positions: 0, fewest: Infinity, silent: 0, full: 0 };

  constructor(options: RemotePolicyOptions) {
    checkOptions("use a remote policy", options, remoteRules);
    const { urls = [], dialect = "vllm", api = "completions", topLogprobs = 10 } = options;
    this.#endpoints = new Endpoints({
      ...optionsFor<EndpointOptions>(endpointRules, { ...options, urls }),
    });
    this.#options = { ...options, dialect, api, topLogprobs };
    this.name = `${options.model} at ${this.#endpoints
      .health()
      .map(({ url }) => new URL(url).host)
      .join(", ")}`;
    this.contextLength = options.contextLength;
    this.tokenizer = options.tokenizer;
  }

  /**
   * Answers a prompt: a question (text, which becomes the user's message), a chat, or a task that has either
   * as its `prompt`; with `raw: true` the task's text is read without the chat template. A list of prompts gives a list, `n` a list per prompt.
   * @param prompt a question, a chat, a task, or a list of them
   */
  async generate<P extends Prompt | readonly Prompt[], O extends GenerationOptions = object>(
    prompt: P,
    options?: O,
  ): Promise<Generations<P, O>> {
    return (await generate(this, prompt, options)) as Generations<P, O>;
  }

  /** How the endpoints have been doing. */
  health(): EndpointHealth[] {
    return this.#endpoints.health();
  }

  /** What entropies made from this policy's answers mean, in one sentence. */
  get entropyMeaning(): string {
    const { positions, fewest, silent, full } = this.#seen;
    const asked = this.#options.topLogprobs;
    if (positions === 0) return "Entropy: not known yet, nothing was generated.";
    if (silent === positions) {
      return "Entropy: the endpoint gives no log-probs, so every entropy is 0 and branching is a draw that entropy does not move.";
    }
    const missing =
      silent > 0
        ? ` ${silent} of ${positions} tokens came without log-probs and count as certain.`
        : "";
    return fewest < asked
      ? `Entropy: the endpoint gives ${fewest} of the ${asked} alternatives asked for, so values are sums over ${fewest}: lower bounds, not comparable with other endpoints.${missing}`
      : `Entropy: sums over the ${asked} most likely tokens, as the reference computes it; the full distribution is ${full === positions ? "known too" : "not known"}.${missing}`;
  }

  /**
   * Goes on with these endpoints: new ones are asked from now on, those left out finish what they are
   * answering. Resolves when they have.
   * @param urls the addresses from now on
   */
  use(urls: readonly string[]): Promise<void> {
    return this.#endpoints.use(urls);
  }

  /**
   * Has every endpoint read new weights from a folder that it sees under this path: vLLM, started with
   * VLLM_SERVER_DEV_MODE=1. Each finishes what it is answering first; one that is away reads them when it
   * returns, before it is asked anything.
   * @param path the folder, as the servers see it
   */
  async reloadWeights(path: string): Promise<void> {
    checkArguments("reload weights", { path }, { path: "path" });
    const { dialect } = this.#options;
    if (dialect !== "vllm") {
      throw new RangeError(
        `Cannot reload weights: dialect must be "vllm", whose servers read them from a path, got "${dialect}"`,
      );
    }
    await this.#endpoints.everywhere(async (ask) => {
      const kwargs = { weights_path: path };
      await ask("POST", "../collective_rpc", { method: "reload_weights", kwargs });
      // What it remembers of prompts was computed with the former weights.
      await ask("POST", "../reset_prefix_cache");
    });
  }

  /**
   * Asks an endpoint to tokenize a text and throws if it does not agree with the tokenizer here.
   * Needs a server with `/tokenize` (vLLM, llama.cpp, recent SGLang).
   * @param text the text that both tokenize
   */
  async checkTokenizer(
    text = "<think> 12+3 </think>\n<search> Ünïcödé 北京 </search>",
  ): Promise<void> {
    const { model, dialect } = this.#options;
    const body =
      dialect === "llama.cpp"
        ? { content: text, add_special: false, parse_special: true }
        : { model, prompt: text, add_special_tokens: false };
    const { tokens } = (await this.#endpoints.post("../tokenize", body)) as { tokens?: number[] };
    const ours = this.tokenizer.encode(text);
    if (JSON.stringify(tokens) !== JSON.stringify(ours)) {
      throw new TypeError(
        `Cannot use ${this.name}: its tokenizer must be the one given, got ${JSON.stringify(tokens)} where that gives ${JSON.stringify(ours)}`,
      );
    }
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Policies", text: `${this.name}, context ${this.contextLength}` };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Policy (${this.name}, context ${this.contextLength})`;
  }

  session(): Session {
    const sequences = new Set<RemoteSequence>();
    let nextId = 0;
    let disposed = false;
    const open = (
      tokens: number[],
      promptLength: number,
      messages: readonly ChatMessage[] | undefined,
      family: object = {},
    ): RemoteSequence => {
      const sequence = { id: nextId++, tokens, promptLength, messages, family };
      sequences.add(sequence);
      return sequence;
    };
    const own = (sequence: Sequence): RemoteSequence => {
      if (sequences.has(sequence as RemoteSequence)) return sequence as RemoteSequence;
      if (typeof sequence?.id !== "number") {
        throw new TypeError(
          `Cannot use a sequence: sequence must be one of this session, got ${shown(sequence)}`,
        );
      }
      throw new RangeError(
        `Cannot use sequence ${sequence.id}: it must be open in this session, got a closed or foreign one`,
      );
    };
    return {
      open: (tokens, options = {}) => {
        if (disposed) {
          throw new Error(
            "Cannot open a sequence: the session must not be over, but it was disposed",
          );
        }
        checkArguments("open a sequence", { tokens }, { tokens: "list" });
        checkOptions("open a sequence", options, { messages: "list?" });
        return open(Array.from(tokens), tokens.length, options.messages);
      },
      fork: (sequence) => {
        const { tokens, promptLength, messages, family } = own(sequence);
        return open([...tokens], promptLength, messages, family);
      },
      append: (sequence, tokens) => {
        checkArguments("append", { tokens }, { tokens: "list" });
        const { tokens: all } = own(sequence);
        for (let i = 0; i < tokens.length; i++) all.push(tokens[i]!);
      },
      generate: async (sequence, options) => {
        const mine = own(sequence);
        const segment = await this.#generate(mine, options);
        for (const token of segment.tokens) mine.tokens.push(token);
        return segment;
      },
      truncate: (sequence, length) => {
        const { id, tokens } = own(sequence);
        if (!Number.isInteger(length) || length < 0 || length > tokens.length) {
          throw new RangeError(
            `Cannot truncate sequence ${id}: length must be from 0 to ${tokens.length}, got ${length}`,
          );
        }
        tokens.length = length;
      },
      close: (sequence) => {
        sequences.delete(own(sequence));
      },
      dispose: () => {
        disposed = true;
        sequences.clear();
      },
    };
  }

  async #generate(sequence: RemoteSequence, options: GenerateOptions): Promise<Segment> {
    checkGenerate(options, sequence.tokens.length);
    refuseConstraint(options);
    const capacity = this.contextLength - sequence.tokens.length;
    if (capacity <= 0) return toSegment([], "context", undefined, 0);
    const { api, dialect, model, topLogprobs } = this.#options;
    const stops = options.stop ?? [];
    const maxTokens = Math.min(options.maxTokens, capacity);
    const asText = api === "completions" && takesText.has(dialect);
    const text = asText ? this.tokenizer.decode(sequence.tokens) : "";
    const body = requestBody({
      ...options,
      dialect,
      api,
      model,
      topLogprobs,
      maxTokens,
      stop: stops,
      tokens: sequence.tokens,
      text,
      messages: api === "chat" ? this.#messages(sequence) : [],
      // A server of our own draws from the sequence's stream itself.
      randomState: options.random.state(),
      seed: dialect === "arpo-lab" ? 0 : Math.floor(options.random.uniform() * 2 ** 31),
      eosIds: this.tokenizer.eosIds,
      padId: this.tokenizer.padId,
      vocabSize: this.tokenizer.vocabSize,
    });
    const path = api === "chat" ? "chat/completions" : "completions";
    const reading = { tokenizer: this.tokenizer, stops, maxTokens };
    const begun = sequence.tokens.slice(sequence.tokens.length - (options.begun ?? 0));
    const answer = await this.#endpoints.post(path, body, {
      signal: options.signal,
      key: sequence.family,
      read: (answered) => cutAtStop(readAnswer(answered, reading), { ...reading, begun }),
    });
    if (asText) this.#checkLength(text, answer.promptTokens);
    if (dialect === "arpo-lab") answer.tokens.forEach(() => options.random.uniform());
    this.#count(answer.tokens);
    const full = answer.finish === "length" && maxTokens < options.maxTokens;
    const finish = full ? "context" : answer.finish;
    const segment = toSegment(answer.tokens, finish, answer.stop, topLogprobs);
    if (options.onToken) tellAll(segment, options.onToken);
    return segment;
  }

  /**
   * An endpoint that takes text may cut it into other tokens, and its model then reads something else.
   * The number it counted tells; one more is the begin token some put first.
   */
  #checkLength(text: string, counted: number | undefined): void {
    if (counted === undefined) return;
    const ours = this.tokenizer.encode(text).length;
    if (counted === ours || counted === ours + 1) return;
    throw new TypeError(
      `Cannot use ${this.name}: its tokenizer must be the one given, which makes ${ours} tokens of a prompt, got ${counted}`,
    );
  }

  /** What a chat endpoint is sent: it writes the prompt itself, so text of a template will not do. */
  #messages({ messages, tokens, promptLength }: RemoteSequence): RemoteMessage[] {
    if (!messages || tokens.length < promptLength) {
      throw new TypeError(
        `Cannot ask ${this.name}: api "chat" needs the messages that the prompt was made of (session.open(tokens, { messages }), or a task whose prompt is a chat and is not cut), got ${messages ? "a prompt that was cut" : "a prompt without them"}; api "completions" takes any prompt`,
      );
    }
    const written = this.tokenizer.decode(tokens.slice(promptLength));
    return written === "" ? [...messages] : [...messages, { role: "assistant", content: written }];
  }

  #count(tokens: readonly RemoteToken[]): void {
    for (const { top, logprob, entropy } of tokens) {
      this.#seen.positions++;
      if (entropy !== undefined) this.#seen.full++;
      if (Number.isNaN(logprob)) this.#seen.silent++;
      else this.#seen.fewest = Math.min(this.#seen.fewest, top.length);
    }
  }
}

/**
 * What tokens were sampled from. How likely a token was among them follows where the endpoint told how likely each was,
 * over the whole vocabulary or over them; elsewhere nobody knows.
 */
function supportOf(tokens: readonly RemoteToken[]): Support | undefined {
  const list = new SupportList();
  for (const { id, logprob, top, support = [] } of tokens) {
    const said = new Map([...top.map((one) => [one.id, one.logprob] as const), [id, logprob]]);
    const left = support.reduce((sum, one) => sum + exact.exp(said.get(one) ?? NaN), 0);
    list.push({ ids: support, logprob: logprob - exact.log(left), given: false });
  }
  return list.value();
}

/** Positions as the arrays of a segment; short lists of alternatives are filled with impossible ones. */
function toSegment(
  tokens: readonly RemoteToken[],
  finish: Segment["finish"],
  stop: string | undefined,
  asked: number,
): Segment {
  const n = tokens.length;
  const width = tokens.reduce((most, { top }) => Math.max(most, top.length), asked > 0 ? 1 : 0);
  const ids = new Int32Array(n * width).fill(-1);
  const logprobs = new Float32Array(n * width).fill(-Infinity);
  for (const [i, { id, logprob, top }] of tokens.entries()) {
    // A token nobody said anything about counts as certain: it must not move an entropy.
    const known = Number.isNaN(logprob) ? [{ id, logprob: 0 }] : top;
    const falling = [...known].sort((a, b) => b.logprob - a.logprob).slice(0, width);
    for (const [k, alternative] of falling.entries()) {
      ids[i * width + k] = alternative.id;
      logprobs[i * width + k] = alternative.logprob;
    }
  }
  return {
    tokens: Int32Array.from(tokens, ({ id }) => id),
    logprobs: Float32Array.from(tokens, ({ logprob }) => logprob),
    entropies: Float32Array.from(tokens, ({ entropy }) => entropy ?? NaN),
    top: { width, ids, logprobs },
    finish,
    ...defined({ stop, support: supportOf(tokens) }),
  };
}
