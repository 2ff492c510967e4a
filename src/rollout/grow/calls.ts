import { defined } from "../../../common/options/defined.js";
import { encodeStart } from "../../model/tokenizer/encode-start.js";
import { joined, meant, plain } from "../../model/tokenizer/special-tokens.js";
import type { TextPart, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { FinishReason } from "../../policy/policy.js";
import { toolContent } from "../../base/text/call-input.js";
import { strip } from "../../base/text/python-text.js";
import { blockAround } from "../../base/text/result-block.js";
import { type CallFormat, inputOf, tailPartsOf } from "../../tools/calls/call-format.js";
import type { ToolOutcome, ToolSet } from "../../tools/tool-set.js";
import type { TrajectoryEnd } from "../tree/tree-values.js";

/** What happens to a trajectory after a segment. */
export type SegmentOutcome = CalledTools | { kind: "keep" } | { kind: "end"; why: TrajectoryEnd };

/** A call and what is wrong with it, if anything is. */
interface CalledTool {
  tag: string;
  input: string;
  problem?: string;
}

/** A segment that ends with a call, or with several that are answered together. */
export interface CalledTools extends CalledTool {
  kind: "call";
  /** All of them, where they are written as the chat template does. */
  all?: readonly CalledTool[];
}

interface Situation {
  /** How calls are written; absent for tags. */
  format?: CallFormat | undefined;
  /** How many of the last tokens are the model's turn. */
  turn?: number;
  segment: { finish?: FinishReason; stop?: string };
  /** The trajectory's tokens, prompt included, and where its response starts. */
  tokens: readonly number[];
  promptLength: number;
  calls: number;
  callLimit: number;
  responseLength: number;
  /** Whether a tool takes no arguments: its tags with nothing between them are a call. */
  takesNothing: (tag: string) => boolean;
  /** Look for the opening tag in the prompt and in results too, as the reference does. */
  searchPrompt: boolean;
  /** Where results stand in the trajectory's tokens, in order. */
  results: readonly Span[];
  tokenizer: Tokenizer;
}

/** A span of tokens: its first one, and the one behind it. */
export type Span = readonly [from: number, to: number];

/**
 * The input of the call that the model's text ends with, from the last opening tag that the model wrote; nothing where
 * it wrote none. A tag in a result opens no call.
 */
function callInput(
  { tokens, promptLength, results, tokenizer }: Situation,
  tag: string,
): string | undefined {
  const open = `<${tag}>`;
  const turns = [promptLength, ...results.map(([, end]) => end)];
  for (const [i, from] of [...turns.entries()].reverse()) {
    const turn = tokenizer.decode(tokens.slice(from, results[i]?.[0]));
    const at = turn.lastIndexOf(open);
    if (at < 0) continue;
    const text = tokenizer.decode(tokens.slice(from));
    return strip(text.slice(at + open.length, text.lastIndexOf(`</${tag}>`)));
  }
  return undefined;
}

/** Says what a trajectory does next. The caller spends the tool call. */
export function classify(at: Situation): SegmentOutcome {
  const { finish, stop } = at.segment;
  if (finish === "stop" && stop !== undefined) {
    if (at.calls >= at.callLimit) return { kind: "end", why: "call-limit" };
    const tag = stop.slice(2, -1);
    const input = at.searchPrompt
      ? toolContent(at.tokenizer.decode(at.tokens), tag)
      : callInput(at, tag);
    const isCall = input !== undefined && (input !== "" || at.takesNothing(tag));
    return isCall ? { kind: "call", tag, input } : { kind: "end", why: "bad-call" };
  }
  if (finish === "end" && at.format) {
    const all = calledIn(at, at.format);
    if (all.length === 0) return { kind: "end", why: "answer" };
    return at.calls + all.length > at.callLimit
      ? { kind: "end", why: "call-limit" }
      : { kind: "call", ...all[0]!, all };
  }
  if (finish === "length") {
    const response = at.tokens.length - at.promptLength;
    return response < at.responseLength ? { kind: "keep" } : { kind: "end", why: "length" };
  }
  return { kind: "end", why: finish === "context" ? "context" : "answer" };
}

/** The calls of the model's turn, which an end token ends. */
function calledIn({ tokens, turn = 0, tokenizer }: Situation, format: CallFormat): CalledTool[] {
  const ends = tokenizer.eosIds.includes(tokens.at(-1) ?? -1) ? 1 : 0;
  const ids = tokens.slice(tokens.length - turn, tokens.length - ends);
  return format.parse(tokenizer.decode(ids, { skipSpecial: false })).map((call) => ({
    tag: call.name,
    input: inputOf(call.arguments),
    ...defined({ problem: call.problem }),
  }));
}

/** The environment that some of the tags are of. */
interface Acting {
  tags: readonly string[];
  call(tag: string, input: string, signal?: AbortSignal): Promise<ToolOutcome>;
}

/** What is told of a call that cannot be made: the model reads it as the result. */
function refused({ tag, input }: CalledTool, message: string): ToolOutcome {
  return {
    ...{ tag: tag === "" ? "call" : tag, input, text: `Error: ${message}`, ok: false },
    ...{ failure: { kind: "error", message }, retries: 0, ms: 0 },
  };
}

/** Makes the calls that a segment ends with: tools at the same time, an environment's one after another. */
export async function callAll(
  called: CalledTools,
  tools: ToolSet,
  acting: Acting | undefined,
  signal: AbortSignal | undefined,
): Promise<ToolOutcome[]> {
  const known = [...tools.tags, ...(acting?.tags ?? [])];
  let acted = Promise.resolve();
  const one = (call: CalledTool): Promise<ToolOutcome> => {
    const { tag, input, problem } = call;
    if (problem !== undefined) return Promise.resolve(refused(call, problem));
    if (acting?.tags.includes(tag)) {
      const outcome = acted.then(() => acting.call(tag, input, signal));
      acted = outcome.then(
        () => undefined,
        () => undefined,
      );
      return outcome;
    }
    if (tools.get(tag)) return tools.call(tag, input, { signal });
    return Promise.resolve(
      refused(call, `there is no tool ${tag}; there are ${known.join(", ") || "none"}`),
    );
  };
  return Promise.all((called.all ?? [called]).map(one));
}

/** Results in the words around them: those of the template, or a result block. */
export function answerParts(
  format: CallFormat | undefined,
  results: readonly Pick<ToolOutcome, "tag" | "text">[],
): readonly TextPart[] {
  if (format)
    return tailPartsOf(
      format,
      results.map(({ tag, text }) => ({ name: tag, text })),
    );
  return [meant(blockAround.before), plain(results[0]!.text), meant(blockAround.behind)];
}

/** A result block, or as much of it as was asked for. */
export interface EncodedResult {
  text: string;
  tokens: number[];
  whole: boolean;
}

/** The beginning of a tool's answer, in the words around it, as the model reads it: text, and tokens of that text as one string. */
export function encodeResult(
  block: readonly TextPart[],
  tokenizer: Tokenizer,
  begin: number | undefined,
  most: number,
): EncodedResult {
  const first = begin === undefined ? [] : [begin];
  const { tokens, whole } = encodeStart(tokenizer, block, most - first.length);
  return {
    text: whole ? joined(block) : tokenizer.decode(tokens),
    tokens: first.concat(tokens),
    whole,
  };
}
