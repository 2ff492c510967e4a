import { generate, type GenerationOptions, type Generations } from "../../policy/generate.js";
import type { Prompt } from "../../policy/prompt.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { GenerateOptions, Policy, Sequence, Segment, Session } from "../../policy/policy.js";
import { CodePointTokenizer } from "./code-point-tokenizer.js";

/** What a script knows about the generate call it answers. */
export interface ScriptSituation {
  /** The session's number of the sequence. */
  sequence: number;
  /** How often this sequence has generated before; a fork counts its own calls. */
  turn: number;
  /** The sequence's whole text, prompt included. */
  text: string;
  options: GenerateOptions;
}

/** What the model "writes". */
export interface ScriptedText {
  text: string;
  /** Probability of every token written, the rest being on one alternative; NaN: not told. Default 1. */
  confidence?: number;
}

type Script = (at: ScriptSituation) => ScriptedText | Segment | Promise<ScriptedText | Segment>;

class ScriptedSequence implements Sequence {
  turn = 0;
  constructor(
    readonly id: number,
    readonly tokens: number[],
  ) {}
}

/**
 * A policy whose text comes from a function: rollouts without a model.
 *
 * The text is cut at the first stop string, end token or `maxTokens`, as a model's would be; a whole
 * `Segment` is passed on as it is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Random } from "arpo-lab/policy";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(({ turn }) => ({ text: `turn ${turn}\u0001` }));
 * const session = policy.session();
 * const sequence = session.open(policy.tokenizer.encode("hello"));
 * const segment = await session.generate(sequence, { maxTokens: 4, random: Random.from(1) });
 * assert.equal(policy.tokenizer.decode(segment.tokens), "turn");
 * session.dispose();
 * assert.equal(policy.openSequences, 0);
 * ```
 */
export class ScriptedPolicy implements Policy {
  readonly name = "scripted";
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  /** Sequences that some session has not given back. */
  openSequences = 0;
  readonly #script: Script;

  constructor(script: Script, options: { tokenizer?: Tokenizer; contextLength?: number } = {}) {
    this.#script = script;
    this.tokenizer = options.tokenizer ?? new CodePointTokenizer();
    this.contextLength = options.contextLength ?? 4096;
  }

  /**
   * Answers a prompt: a question (text, which becomes the user's message), a chat, or a task that has either
   * as its `prompt`; with `raw: true` the task's text is read without the chat template. A list of prompts gives a list, `n` a list per prompt.
   */
  async generate<P extends Prompt | readonly Prompt[], O extends GenerationOptions = object>(
    prompt: P,
    options?: O,
  ): Promise<Generations<P, O>> {
    return (await generate(this, prompt, options)) as Generations<P, O>;
  }

  session(): Session {
    const rows = new Set<ScriptedSequence>();
    let next = 0;
    const add = (tokens: number[]): ScriptedSequence => {
      if (tokens.length > this.contextLength) {
        throw new RangeError(
          `Cannot open a sequence: it must fit into ${this.contextLength} tokens, got ${tokens.length}`,
        );
      }
      const sequence = new ScriptedSequence(next++, tokens);
      rows.add(sequence);
      this.openSequences++;
      return sequence;
    };
    const find = (sequence: Sequence): ScriptedSequence => {
      if (sequence instanceof ScriptedSequence && rows.has(sequence)) return sequence;
      throw new RangeError(
        `Cannot use a sequence: it must be open in this session, got sequence ${sequence.id}`,
      );
    };
    const close = (sequence: Sequence) => {
      if (rows.delete(find(sequence))) this.openSequences--;
    };
    return {
      open: (tokens) => add(Array.from(tokens)),
      fork: (sequence) => add([...find(sequence).tokens]),
      append: (sequence, tokens) => {
        const { tokens: own } = find(sequence);
        if (own.length + tokens.length > this.contextLength) {
          throw new RangeError(
            `Cannot append: a sequence must fit into ${this.contextLength} tokens, got ${own.length + tokens.length}`,
          );
        }
        for (let i = 0; i < tokens.length; i++) own.push(tokens[i]!);
      },
      truncate: (sequence, length) => {
        find(sequence).tokens.length = length;
      },
      generate: (sequence, options) => this.#generate(find(sequence), options),
      close,
      dispose: () => {
        for (const sequence of rows) close(sequence);
      },
    };
  }

  async #generate(sequence: ScriptedSequence, options: GenerateOptions): Promise<Segment> {
    const { signal } = options;
    signal?.throwIfAborted();
    const situation: ScriptSituation = {
      sequence: sequence.id,
      turn: sequence.turn++,
      text: this.tokenizer.decode(sequence.tokens),
      options,
    };
    const said = await untilAborted(this.#script(situation), signal);
    const capacity = this.contextLength - sequence.tokens.length;
    const segment =
      "tokens" in said
        ? said
        : this.#segment(said, sequence, Math.min(options.maxTokens, capacity), options);
    if (segment.finish === "length" && segment.tokens.length === capacity)
      segment.finish = "context";
    sequence.tokens.push(...segment.tokens);
    return segment;
  }

  #segment(
    said: ScriptedText,
    sequence: ScriptedSequence,
    most: number,
    { stop = [], begun = 0 }: GenerateOptions,
  ): Segment {
    const { text, confidence = 1 } = said;
    const before = sequence.tokens.slice(sequence.tokens.length - begun);
    const tokens: number[] = [];
    let finish: Segment["finish"] = "length";
    let stopped: string | undefined;
    for (const token of this.tokenizer.encode(text)) {
      if (tokens.length >= most) break;
      tokens.push(token);
      const written = this.tokenizer.decode([...before, ...tokens]);
      stopped = stop.find((s) => written.endsWith(s));
      if (stopped !== undefined) finish = "stop";
      else if (this.tokenizer.eosIds.includes(token)) finish = "end";
      if (finish !== "length") break;
    }
    const width = 2;
    const pair = [confidence, 1 - confidence];
    const segment: Segment = {
      tokens: Int32Array.from(tokens),
      logprobs: new Float32Array(tokens.length).fill(Math.log(confidence)),
      entropies: new Float32Array(tokens.length).fill(
        pair.reduce((sum, p) => sum - (p === 0 ? 0 : p * Math.log(p)), 0),
      ),
      top: {
        width,
        ids: Int32Array.from(tokens.flatMap((token) => [token, this.tokenizer.padId])),
        logprobs: Float32Array.from(tokens.flatMap(() => pair.map((p) => Math.log(p)))),
      },
      finish,
    };
    if (stopped !== undefined) segment.stop = stopped;
    return segment;
  }
}

/** A promise's answer, or the signal's reason as soon as it is aborted. */
async function untilAborted<T>(answer: T | Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal || !(answer instanceof Promise)) return answer;
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
