import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { FinishReason, Segment } from "../../policy/policy.js";
import { StopWatcher, type TokenTexts } from "../../policy/stops.js";
import type { Sampled } from "./client/answers.js";

/** What a sequence is read with. */
interface SequenceReading {
  tokenizer: Tokenizer;
  texts: TokenTexts;
  stops: readonly string[];
  /** The sequence's last tokens, in which a stop string may begin. */
  begun: readonly number[];
  /** Tokens that were asked for. */
  maxTokens: number;
  /** Log-probabilities are of the distribution that was sampled from. */
  exact: boolean;
}

/** What stands in a server's dense lists where there is no alternative. */
const none = -99_999;

/**
 * A server's sequence as a segment: it ends where a local model's does, with the first end token or
 * whole stop string, whatever a server writes beyond (SkyRL's JAX backend writes all tokens that were
 * asked for). Where it gives no alternatives, entropies are the tokens' surprisals.
 */
export function readSequence(sequence: Sampled, reading: SequenceReading): Segment {
  const { tokenizer, texts, stops, begun, maxTokens, exact } = reading;
  const watcher = new StopWatcher(texts, stops, begun);
  const tokens: number[] = [];
  let finish: FinishReason | undefined;
  let stop: string | undefined;
  for (const token of sequence.tokens.slice(0, maxTokens)) {
    tokens.push(token);
    stop = watcher.push(token);
    if (tokenizer.eosIds.includes(token)) finish = "end";
    else if (stop !== undefined) finish = "stop";
    if (finish) break;
  }
  if (!finish && tokens.length >= maxTokens) finish = "length";
  // Fewer than were asked for, and yet not stopped: its own context is full.
  if (!finish && sequence.stop_reason === "length") finish = "context";
  if (!finish) {
    // It ended and does not say with what: the end token was cut off.
    tokens.push(tokenizer.eosId);
    finish = "end";
  }
  const said = (t: number): number => (exact ? (sequence.logprobs?.[t] ?? NaN) : NaN);
  const logprobs = Float32Array.from(tokens, (_, t) =>
    t < sequence.tokens.length ? said(t) : NaN,
  );
  return {
    tokens: Int32Array.from(tokens),
    logprobs,
    ...uncertainty(sequence, tokens, logprobs, exact),
    finish,
    ...(finish === "stop" && stop !== undefined ? { stop } : {}),
  };
}

function uncertainty(
  { topk_logprobs: topk }: Sampled,
  tokens: readonly number[],
  logprobs: Float32Array,
  exact: boolean,
): Pick<Segment, "entropies" | "top"> {
  const lists = tokens.map((_, t) => (topk?.[t] ?? []).filter(([, p]) => p > none));
  const width = exact ? lists.reduce((most, list) => Math.max(most, list.length), 0) : 0;
  const ids = new Int32Array(tokens.length * width).fill(-1);
  const values = new Float32Array(tokens.length * width).fill(-Infinity);
  lists.forEach((list, t) => {
    const falling = [...list].sort((a, b) => b[1] - a[1]).slice(0, width);
    falling.forEach(([id, p], k) => {
      ids[t * width + k] = id;
      values[t * width + k] = p;
    });
  });
  return {
    entropies: width > 0 ? new Float32Array(tokens.length).fill(NaN) : logprobs.map((p) => -p),
    top: { width, ids, logprobs: values },
  };
}
