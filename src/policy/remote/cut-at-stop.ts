import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { StopWatcher, TokenTexts } from "../stops.js";
import type { RemoteAnswer } from "./answer.js";

interface Begun {
  tokenizer: Tokenizer;
  stops: readonly string[];
  /** Tokens before the answer that are one text with it. */
  begun: readonly number[];
}

/**
 * An answer up to a stop string that began before it: an endpoint looks for stop strings in what it
 * writes itself, and continues.
 */
export function cutAtStop(answer: RemoteAnswer, { tokenizer, stops, begun }: Begun): RemoteAnswer {
  if (begun.length === 0 || stops.length === 0) return answer;
  const watcher = new StopWatcher(new TokenTexts(tokenizer), stops, begun);
  for (const [at, { id }] of answer.tokens.entries()) {
    const stop = watcher.push(id);
    if (stop === undefined) continue;
    return { ...answer, tokens: answer.tokens.slice(0, at + 1), finish: "stop", stop };
  }
  return answer;
}
