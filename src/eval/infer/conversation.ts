import { defined } from "../../../common/options/defined.js";
import { encodeStart } from "../../model/tokenizer/encode-start.js";
import {
  chatParts,
  encodeParts,
  encodePlain,
  joined,
  meant,
  plain,
} from "../../model/tokenizer/special-tokens.js";
import type { ChatMessage, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Policy, Segment, Sequence, Session } from "../../policy/policy.js";
import type { Random } from "../../base/random/random.js";
import { bareBlockAround, blockAround, resultMarks } from "../../base/text/result-block.js";
import type { ToolOutcome } from "../../tools/tool-set.js";
import type { InferenceSettings } from "./options.js";
import type { ResultStep, Step, WrittenStep } from "./sample.js";

/**
 * What is kept of a generation: nothing from the first result block on, which the model made up, and
 * nothing after the first closing tag of a call or of the answer.
 */
export function trimGeneration(text: string, tags: readonly string[]): string {
  const cut = (at: number) => {
    if (at >= 0) text = text.slice(0, at);
  };
  cut(text.indexOf(resultMarks.open));
  for (const tag of [...tags, "answer"]) {
    const closing = `</${tag}>`;
    const at = text.indexOf(closing);
    cut(at < 0 ? -1 : at + closing.length);
  }
  return text;
}

/** One prompt and everything written after it: a sequence of a session and its text, always in step. */
export class Conversation {
  readonly steps: Step[] = [];
  /** What was written and what came back, in turn. */
  readonly logs: string[] = [];
  readonly promptTokens: number[];
  /** Nothing more fits into the model's context. */
  full = false;
  /** Milliseconds the model took. */
  modelMs = 0;
  readonly #session: Session;
  readonly #tokenizer: Tokenizer;
  readonly #contextLength: number;
  readonly #row: Sequence;
  readonly #settings: InferenceSettings;
  readonly #tags: readonly string[];
  readonly #random: Random;
  readonly #signal: AbortSignal;
  #generations = 0;

  constructor(parts: {
    policy: Policy;
    session: Session;
    messages: readonly ChatMessage[];
    settings: InferenceSettings;
    /** Tags of the tools. */
    tags: readonly string[];
    random: Random;
    signal: AbortSignal;
  }) {
    const { policy, session, messages } = parts;
    this.#session = session;
    this.#tokenizer = policy.tokenizer;
    this.#contextLength = policy.contextLength;
    this.#settings = parts.settings;
    this.#tags = parts.tags;
    this.#random = parts.random;
    this.#signal = parts.signal;
    const prompt = chatParts(this.#tokenizer, messages, { addGenerationPrompt: true });
    this.promptTokens = encodeParts(this.#tokenizer, prompt);
    this.#row = session.open(this.promptTokens, { messages });
  }

  /** Everything after the prompt. */
  get output(): string {
    return this.logs.join("");
  }

  close(): void {
    this.#session.close(this.#row);
  }

  /** Lets the model write up to the end of a call or of the answer, in several generations if need be. */
  async write(options: { stops: boolean }): Promise<string> {
    const closings = [...this.#tags, "answer"].map((tag) => `</${tag}>`);
    const stop = options.stops && !this.#settings.asReference ? closings : [];
    let written = "";
    // Filed in any case: what was written before the time was over belongs to the transcript.
    const at = this.logs.push("") - 1;
    for (let i = 0; i < this.#settings.chained; i++) {
      const text = await this.#generate(stop);
      written += text;
      this.logs[at] = written;
      if (this.full || closings.some((closing) => written.includes(closing))) break;
    }
    return written;
  }

  /** Puts a result block after what the model wrote. */
  insert(outcome: Omit<ToolOutcome, "ms" | "details">, rule?: ResultStep["rule"]): void {
    const { tag, input, text: found, ok, failure, retries } = outcome;
    const { before, behind } = this.#settings.asReference ? bareBlockAround : blockAround;
    const parts = [meant(before), plain(found), meant(behind)];
    const text = joined(parts);
    // The context must have room for a token after it.
    const capacity = this.#contextLength - this.#row.tokens.length - 1;
    const { tokens: start, whole } = encodeStart(this.#tokenizer, parts, capacity);
    const tokens = whole ? start : [];
    this.logs.push(text);
    this.steps.push({
      kind: "result",
      text,
      tokens,
      tool: { tag, input, text: found, ok, ...defined({ failure }), retries },
      ...defined({ rule }),
    });
    if (whole) this.#session.append(this.#row, tokens);
    else this.full = true;
  }

  async #generate(stop: readonly string[]): Promise<string> {
    const before = this.#row.tokens.length;
    const began = performance.now();
    const segment = await this.#session
      .generate(this.#row, {
        ...this.#settings.sampling,
        maxTokens: this.#settings.maxTokens,
        stop,
        random: this.#random.split(this.#generations++),
        signal: this.#signal,
      })
      .finally(() => (this.modelMs += performance.now() - began));
    if (segment.finish === "context") this.full = true;
    const raw = this.#tokenizer.decode(segment.tokens, { skipSpecial: true });
    const text = trimGeneration(raw, this.#tags);
    const { tokens, told } = this.#kept(segment, raw, text);
    if (tokens.length !== segment.tokens.length || told < tokens.length) {
      this.#session.truncate(this.#row, before);
      if (tokens.length > 0) this.#session.append(this.#row, tokens);
    }
    const known = (values: Float32Array) =>
      tokens.map((_, i) => (i < told && Number.isFinite(values[i]) ? short(values[i]!) : null));
    const step: WrittenStep = {
      kind: "model",
      text,
      tokens,
      logprobs: known(segment.logprobs),
      entropies: known(segment.entropies),
      finish: segment.finish,
      ...defined({ stop: segment.stop }),
    };
    this.steps.push(step);
    return text;
  }

  /**
   * The tokens of what is kept, and how many of them are the model's own; the end token never stays,
   * so that a chain can continue after it. Where the cut goes through a token the text is encoded anew.
   */
  #kept(segment: Segment, raw: string, text: string): { tokens: number[]; told: number } {
    const all = Array.from(segment.tokens);
    if (segment.finish === "end") all.pop();
    if (text === raw) return { tokens: all, told: all.length };
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const length = this.#tokenizer.decode(all.slice(0, middle), { skipSpecial: true }).length;
      if (length < text.length) low = middle + 1;
      else high = middle;
    }
    const tokens = all.slice(0, low);
    if (this.#tokenizer.decode(tokens, { skipSpecial: true }) === text) {
      return { tokens, told: tokens.length };
    }
    return { tokens: encodePlain(this.#tokenizer, text), told: 0 };
  }
}

/** Six digits are what a 32-bit float is worth in a report. */
const short = (x: number) => Number(x.toPrecision(6));
