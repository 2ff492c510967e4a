import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { CapturedCall, LinkedCall, Rewrite } from "./captured-call.js";

/** Everything a call has read and written. */
export function pathIds({ prompt, tokens }: Pick<CapturedCall, "prompt" | "tokens">): Int32Array {
  const all = new Int32Array(prompt.length + tokens.length);
  all.set(prompt);
  all.set(tokens, prompt.length);
  return all;
}

/** How many ids two lists begin with in common. */
export function sharedLength(a: Int32Array, b: Int32Array): number {
  const longest = Math.min(a.length, b.length);
  let count = 0;
  while (count < longest && a[count] === b[count]) count++;
  return count;
}

const bytesOf = (ids: Int32Array) => Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength);
const beginsWith = (ids: Int32Array, beginning: Int32Array) =>
  beginning.length <= ids.length &&
  bytesOf(ids.subarray(0, beginning.length)).equals(bytesOf(beginning));

const sameIds = (a: Int32Array, b: Int32Array) => bytesOf(a).equals(bytesOf(b));

/** Some words of a list of ids, for an error or a report. */
export function wordsAt(ids: Int32Array, at: number, tokenizer: Tokenizer): string {
  const some = ids.subarray(at, at + 24);
  const text = tokenizer.decode(some, { skipSpecial: false });
  return at + some.length < ids.length ? `${text}…` : text;
}

/** Calls that may be one that was made again: they ask the same, and one did not wait for the other. */
const mayBeOne = (call: LinkedCall, other: LinkedCall) =>
  call.request !== other.request &&
  sameIds(call.prompt, other.prompt) &&
  (call.cut !== undefined || call.to < other.from || other.to < call.from);

/** The call that was made in place of one: a later one where it failed, the next one where the client says so. */
function replacementOf(call: LinkedCall, same: readonly LinkedCall[]): LinkedCall | undefined {
  const later = same.filter(({ id }) => id > call.id);
  if (call.cut !== undefined) return later.at(-1);
  const [next] = later;
  return (next?.retry ?? 0) > 0 ? next : undefined;
}

const withoutBlanks = (text: string) => text.replace(/\s+/g, "");

/**
 * How many ids of a prompt say what a recorded path says, where they differ in white space alone, and only behind the
 * path's own prompt; undefined where they differ otherwise.
 */
function sameWords(
  prompt: Int32Array,
  { path, from }: { path: Int32Array; from: number },
  tokenizer: Tokenizer,
): number | undefined {
  const shared = sharedLength(path, prompt);
  if (shared < from) return undefined;
  const textOf = (ids: Int32Array) => tokenizer.decode(ids, { skipSpecial: false });
  const wanted = withoutBlanks(textOf(path.subarray(shared)));
  const sent = textOf(prompt.subarray(shared));
  let [at, found] = [0, 0];
  for (; found < wanted.length && at < sent.length; at++) {
    if (/\s/.test(sent[at]!)) continue;
    if (sent[at] !== wanted[found]) return undefined;
    found++;
  }
  if (found < wanted.length) return undefined;
  // The ids up to there, by halves.
  let [low, high] = [shared, prompt.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (textOf(prompt.subarray(shared, middle)).length < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Links calls: a call continues the longest recorded one whose prompt and answer its own prompt begins
 * with. One that continues none hangs where its prompt departs from the nearest recorded path, with what
 * the program changed there; one that departs inside that path's first prompt begins a conversation of its own.
 * Calls that parallel requests made may come in any order.
 */
export function linkCalls(calls: readonly CapturedCall[], tokenizer: Tokenizer): LinkedCall[] {
  const linked: LinkedCall[] = calls.map((call) => ({ ...call, parent: -1, root: call.id }));
  const written = linked.filter(({ tokens }) => tokens.length > 0);
  const paths = new Map(written.map((call) => [call, pathIds(call)]));
  const longestFirst = [...written].sort(
    (a, b) => paths.get(b)!.length - paths.get(a)!.length || b.id - a.id,
  );
  // Calls know the others that had been answered when they came, so these have their places already.
  for (const call of written) {
    const parent = longestFirst.find(
      (other) =>
        other !== call && other.to < call.from && beginsWith(call.prompt, paths.get(other)!),
    );
    if (parent) {
      call.parent = parent.id;
      call.root = parent.root;
      continue;
    }
    if (resumed(call)) continue;
    const rewrite = nearest(call);
    if (!rewrite) continue;
    call.rewrite = rewrite;
    call.parent = rewrite.of;
    call.root = linked[rewrite.of]!.root;
  }
  const continued = new Set(linked.filter(({ rewrite }) => !rewrite).map(({ parent }) => parent));
  for (const call of written) {
    if (continued.has(call.id)) continue;
    const again = written.filter((other) => other !== call && mayBeOne(call, other));
    const chosen = again.find(({ id }) => continued.has(id)) ?? replacementOf(call, again);
    if (chosen) call.retriedBy = chosen.id;
  }
  return linked;

  /** Links a call to the longest path that came back with other white space; whether there is one. */
  function resumed(call: LinkedCall): boolean {
    for (const other of longestFirst) {
      if (other === call || other.to >= call.from) continue;
      const recorded = { path: paths.get(other)!, from: other.prompt.length };
      const resumes = sameWords(call.prompt, recorded, tokenizer);
      if (resumes === undefined) continue;
      Object.assign(call, { parent: other.id, root: other.root, resumes });
      return true;
    }
    return false;
  }

  /** Where a prompt departs from what was recorded; nothing where it has too little in common with it. */
  function nearest(call: LinkedCall): Rewrite | undefined {
    let best: { of: LinkedCall; shared: number } | undefined;
    for (const of of written) {
      if (of.to >= call.from || sameIds(of.prompt, call.prompt)) continue;
      const shared = sharedLength(paths.get(of)!, call.prompt);
      const { length } = linked[of.root]!.prompt;
      // A first prompt asked again is another answer to it.
      if (shared < length || (shared === length && shared === call.prompt.length)) continue;
      // Of several answers to one prompt, ids say which came back.
      if (of.id === call.follows) {
        best = { of, shared };
        break;
      }
      if (shared > (best?.shared ?? -1)) best = { of, shared };
    }
    if (!best) return undefined;
    const { of, shared } = best;
    return {
      ...{ of: of.id, shared },
      recorded: wordsAt(paths.get(of)!, shared, tokenizer),
      sent: wordsAt(call.prompt, shared, tokenizer),
    };
  }
}
