import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { defined } from "../../../common/options/defined.js";
import { tellAll } from "../../policy/tell-all.js";
import { SupportList } from "../../policy/token-sets.js";
import { behind } from "../../policy/structured/grammar-constraint.js";
import type { Policy } from "../../policy/policies.js";
import type {
  Constraint,
  GeneratedToken,
  GenerateOptions,
  Segment,
  Sequence,
  Session,
} from "../../policy/policy.js";
import { Random } from "../../base/random/random.js";
import { ApiError } from "./http/api-error.js";
import type { TokenReport } from "./logprobs.js";
import type { GenerationRequest } from "./schema/common.js";

interface TextStreamOptions {
  /** Where the text ends; what could be the beginning of one is held back. */
  stops: readonly string[];
  /** Leave the stop string in. */
  includeStop: boolean;
  /** Leave out what special tokens say. */
  skipSpecial: boolean;
}

/**
 * Tokens to text as they come. A character may be spread over several tokens and a stop string too, so
 * text is given out only when nothing that follows can change it.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  readonly #options: TextStreamOptions;
  readonly #tokens: number[] = [];
  /** Tokens before this one are settled; those from here are decoded again with each new one. */
  #settled = 0;
  #read = 0;
  #text = "";
  #given = 0;

  constructor(tokenizer: Tokenizer, options: TextStreamOptions) {
    this.#tokenizer = tokenizer;
    this.#options = options;
  }

  /** Characters known so far; a token begins where this stood before it was pushed. */
  get length(): number {
    return this.#text.length;
  }

  /** Characters given out so far. */
  get given(): number {
    return this.#given;
  }

  /** Takes a token and gives the text that is now certain. */
  push(token: number): string {
    this.#tokens.push(token);
    const before = this.#decode(this.#settled, this.#read);
    const after = this.#decode(this.#settled, this.#tokens.length);
    if (after.length > before.length && !after.endsWith("\uFFFD")) {
      this.#text += after.slice(before.length);
      this.#settled = this.#read;
      this.#read = this.#tokens.length;
    }
    return this.#give(this.#certain());
  }

  /** Gives the rest, up to the stop string that ended it, if one did. */
  end(stop?: string): string {
    const before = this.#decode(this.#settled, this.#read);
    this.#text += this.#decode(this.#settled, this.#tokens.length).slice(before.length);
    let end = this.#text.length;
    const at = stop === undefined ? -1 : this.#text.indexOf(stop);
    if (at >= 0) end = this.#options.includeStop ? at + stop!.length : at;
    return this.#give(Math.max(end, this.#given));
  }

  #decode(from: number, to: number): string {
    return this.#tokenizer.decode(this.#tokens.slice(from, to), {
      skipSpecial: this.#options.skipSpecial,
    });
  }

  #give(end: number): string {
    const text = this.#text.slice(this.#given, end);
    this.#given = Math.max(this.#given, end);
    return text;
  }

  /** How much of the text no stop string can take back. */
  #certain(): number {
    const text = this.#text;
    let certain = text.length;
    for (const stop of this.#options.stops) {
      const from = Math.max(0, this.#given - stop.length);
      const whole = text.indexOf(stop, from);
      if (whole >= 0) certain = Math.min(certain, whole);
      for (let n = Math.min(stop.length - 1, text.length - this.#given); n > 0; n--) {
        if (!text.endsWith(stop.slice(0, n))) continue;
        certain = Math.min(certain, text.length - n);
        break;
      }
    }
    return Math.max(certain, this.#given);
  }
}

/** What a choice has newly to say. */
export interface Piece {
  text: string;
  tokens: TokenReport[];
}

/** A finished choice. */
export interface Finished {
  segment: Segment;
  text: string;
  tokens: TokenReport[];
}

interface ChoiceOptions {
  request: GenerationRequest;
  /** Its number among the choices of a prompt: its seed is so much higher. */
  index: number;
  maxTokens: number;
  /** Further strings to stop at, of which the text keeps all. */
  ownStops?: readonly string[];
  /** The choice begins with one of these, whichever the model likes. */
  beginnings?: readonly (readonly number[])[];
  signal: AbortSignal;
  onPiece?: (piece: Piece) => void;
  /** What the choice is held to. */
  constraint?: Constraint;
  /** Tokens that the choice begins with, from a record; `whole`: nothing follows them. */
  given?: { segment: Segment; whole: boolean };
  onToken?: (token: GeneratedToken) => void;
}

/** The stream a choice draws from: `seed + index`, so that choice i is what that seed alone gives. */
function streamOf({ seed, randomState }: GenerationRequest, index: number): Random {
  if (randomState) {
    const random = Random.restore(randomState);
    return index === 0 ? random : random.split(index);
  }
  const wrapped = (seed + index) % 2 ** 52;
  return Random.from(wrapped < 0 ? wrapped + 2 ** 52 : wrapped);
}

/** Generates one choice on a sequence and reports its text as soon as it is certain. */
export async function generateChoice(
  session: Session,
  sequence: Sequence,
  tokenizer: Tokenizer,
  choice: ChoiceOptions,
): Promise<Finished> {
  const { request, index, maxTokens, ownStops = [], beginnings = [], signal, onPiece } = choice;
  const { includeStop, skipSpecial } = request;
  const stream = new TextStream(tokenizer, { stops: request.stop, includeStop, skipSpecial });
  const all: TokenReport[] = [];
  let told = 0;
  let text = "";
  const say = (more: string, limit: number) => {
    text += more;
    const from = told;
    while (told < all.length && all[told]!.offset < limit) told++;
    if (onPiece && (more !== "" || told > from)) {
      onPiece({ text: more, tokens: all.slice(from, told) });
    }
  };
  const options: GenerateOptions = {
    ...request.sampling,
    maxTokens,
    stop: [...request.stop, ...ownStops],
    random: streamOf(request, index),
    signal,
    ...defined({ constraint: choice.constraint }),
    onToken: (generated) => {
      const { token, logprob, top } = generated;
      choice.onToken?.(generated);
      const alternatives = Array.from(top.ids, (id, k) => ({ id, logprob: top.logprobs[k]! }));
      all.push({ id: token, logprob, top: alternatives, offset: stream.length });
      const more = stream.push(token);
      // A token is told with the text it begins; one whose text is not certain waits for it.
      say(more, stream.given);
    },
  };
  const segment = choice.given
    ? await continueGiven(session, sequence, choice.given, beginnings, options)
    : await generateFrom(session, sequence, beginnings, options);
  const ownStop = segment.stop !== undefined && ownStops.includes(segment.stop);
  const rest = stream.end(ownStop ? undefined : segment.stop);
  // By number, every token is of interest; by text, those that the text shows.
  say(rest, request.allTokens ? Infinity : stream.given);
  return { segment, text, tokens: all.slice(0, told) };
}

/** Tells tokens of a record as if they were sampled now, and generates what follows them. */
async function continueGiven(
  session: Session,
  sequence: Sequence,
  { segment, whole }: { segment: Segment; whole: boolean },
  beginnings: readonly (readonly number[])[],
  options: GenerateOptions,
): Promise<Segment> {
  const { tokens } = segment;
  if (options.onToken) tellAll(segment, options.onToken);
  if (whole) return segment;
  const maxTokens = options.maxTokens - tokens.length;
  if (maxTokens <= 0) return { ...segment, finish: "length" };
  session.append(sequence, tokens);
  const { constraint, ...free } = options;
  const open = beginnings.filter((ids) =>
    tokens.every((id, i) => i >= ids.length || ids[i] === id),
  );
  const left = open.some(({ length }) => length <= tokens.length) ? [] : open;
  const rest = await generateFrom(
    session,
    sequence,
    left.map((ids) => ids.slice(tokens.length)),
    {
      ...free,
      ...{ maxTokens, begun: tokens.length },
      // What was recorded otherwise goes on as it was.
      ...defined({ constraint: constraint && behind(constraint, tokens) }),
    },
  );
  return joined([segment, rest]);
}

/** Generates a text that begins with one of the given, or with anything if there are none. */
async function generateFrom(
  session: Session,
  sequence: Sequence,
  beginnings: readonly (readonly number[])[],
  options: GenerateOptions,
): Promise<Segment> {
  const parts: Segment[] = [];
  let open = beginnings;
  for (let at = 0; at < options.maxTokens && open.length > 0; at++) {
    // A beginning that is another's too is complete: what follows is free.
    if (open.some(({ length }) => length === at)) break;
    const allowedIds = [...new Set(open.map((ids) => ids[at]!))];
    const part = await session.generate(sequence, {
      ...options,
      stop: [],
      allowedIds,
      maxTokens: 1,
    });
    parts.push(part);
    const [token] = part.tokens;
    open = open.filter((ids) => ids[at] === token);
    if (open.length === 0 && token !== undefined) {
      const message =
        "A call of any function cannot be required of this model: its endpoint does not keep to allowed token ids. Name the function.";
      throw new ApiError(400, message, { param: "tool_choice", code: "invalid_value" });
    }
  }
  const left = options.maxTokens - parts.length;
  if (parts.length === 0 || left > 0) {
    parts.push(await session.generate(sequence, { ...options, maxTokens: left }));
  }
  return joined(parts);
}

/** Segments of one sequence, one behind the other, as one. */
function joined(parts: readonly Segment[]): Segment {
  const last = parts.at(-1)!;
  if (parts.length === 1) return last;
  const supports = new SupportList();
  for (const { support, tokens } of parts) supports.add(support, 0, tokens.length);
  const floats = (of: (part: Segment) => Float32Array) =>
    Float32Array.from(parts.flatMap((part) => [...of(part)]));
  const ints = (of: (part: Segment) => Int32Array) =>
    Int32Array.from(parts.flatMap((part) => [...of(part)]));
  return {
    finish: last.finish,
    ...defined({ stop: last.stop, support: supports.value() }),
    tokens: ints(({ tokens }) => tokens),
    logprobs: floats(({ logprobs }) => logprobs),
    entropies: floats(({ entropies }) => entropies),
    top: {
      width: last.top.width,
      ids: ints(({ top }) => top.ids),
      logprobs: floats(({ top }) => top.logprobs),
    },
  };
}

/** Opens the sequences of a prompt's choices: one is read, the others share its past. */
export function openRows(
  policy: Policy,
  prompt: readonly number[],
  n: number,
): { session: Session; rows: Sequence[] } {
  const session = policy.session();
  const first = session.open(prompt);
  const sequences = [first];
  for (let i = 1; i < n; i++) sequences.push(session.fork(first));
  return { session, rows: sequences };
}
