import { shown } from "../../../common/options/check-arguments.js";
import * as exact from "../../base/exact/index.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { pathOf, type RolloutTreeData } from "../../rollout/tree/tree-data.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";

/**
 * What is measured at a token: the entropy of the full distribution, that of its most likely tokens alone
 * (not renormalised, as published code reads it off its engine), or the surprisal of the token drawn.
 */
export type EntropySignal = "entropy" | "top-k" | "surprisal";

export const entropySignals: readonly EntropySignal[] = ["entropy", "top-k", "surprisal"];

/** The signal at one token of a node, in nats; NaN where nobody said. */
export function signalAt(
  { entropies, logprobs, top }: TreeNode,
  at: number,
  { signal = "entropy", topK = 10 }: { signal?: EntropySignal; topK?: number },
): number {
  if (signal === "entropy") return entropies[at] ?? NaN;
  if (signal === "surprisal") return -(logprobs[at] ?? NaN);
  if (!top || top.width === 0) return NaN;
  let sum = 0;
  for (let k = 0; k < Math.min(topK, top.width); k++) {
    const l = top.logprobs[at * top.width + k]!;
    if (l > -Infinity) sum -= exact.exp(l) * l;
  }
  return Math.max(0, sum);
}

/** What a token is made of: part of a tag, white space, punctuation, a number or words. */
export type TokenKind = "blank" | "punctuation" | "digits" | "words" | "tags";

const tag = /<\/?[A-Za-z_][\w.-]*>/g;

/** The kind of each of some tokens in a row; a tag may be written in several of them. */
export function tokenKinds(pieces: readonly string[]): TokenKind[] {
  const text = pieces.join("");
  const tagged = new Uint8Array(text.length);
  for (const { index, 0: found } of text.matchAll(tag)) {
    tagged.fill(1, index, index + found.length);
  }
  let at = 0;
  return pieces.map((piece) => {
    const inTag = tagged.subarray(at, at + piece.length).includes(1);
    at += piece.length;
    return inTag ? "tags" : plainKind(piece);
  });
}

function plainKind(piece: string): TokenKind {
  if (piece.trim() === "") return "blank";
  if (/\p{L}/u.test(piece)) return "words";
  return /\p{N}/u.test(piece) ? "digits" : "punctuation";
}

/** A tree whose tokens are looked at; one from a file does not know its tokenizer. */
export type ProfiledTree = RolloutTreeData & { readonly tokenizer?: Tokenizer | undefined };

/** Which tokens are looked at, and what is measured at them. */
export interface ModelTokenOptions {
  /** Default `entropy`: of the full distribution, in nats. */
  signal?: EntropySignal;
  /** Alternatives that count for the signal `top-k`. Default 10. */
  topK?: number;
  /** Count the tokens that nobody drew: end tokens and tags put by the loop. Default false. */
  forced?: boolean;
  /**
   * For trees from files: no token knows its text or the next call otherwise. Default: the tree's
   * own.
   */
  tokenizer?: Tokenizer;
}

/** A token the model wrote, where it stands, and the signal there. Shared tokens exist once. */
export interface ModelToken {
  node: number;
  /** Its place in the node. */
  at: number;
  /** The trajectory that wrote it: the first trajectory through it. */
  trajectory: number;
  /** The signal; NaN where nobody said. */
  value: number;
  /** Model tokens since the last tool result; Infinity before the first. */
  after: number;
  /** Model tokens until the next call's opening tag; Infinity without one, NaN without a tokenizer. */
  before: number;
  /** The middle of its place in its segment, from 0 to 1: what is written between two tool results. */
  place: number;
  /** Undefined without a tokenizer. */
  kind?: TokenKind;
}

/** One tree's model tokens, and each trajectory as places among them. */
export interface TreeTokens {
  /** Trees of one prompt share it. */
  prompt: string;
  tokens: ModelToken[];
  /** The tokens of each trajectory from the prompt to its leaf, shared ones included. */
  trajectories: number[][];
}

/** A token on a trajectory's path, before it is known whether the trajectory wrote it. */
interface Step {
  node: TreeNode;
  at: number;
  after: number;
}

/** The model tokens of a tree, every segment once. */
export function modelTokens(tree: ProfiledTree, options: ModelTokenOptions = {}): TreeTokens {
  const { tokenizer = tree.tokenizer, forced = false } = options;
  const tokens: ModelToken[] = [];
  const known = new Map<number, number[]>(); // The tokens of a node, once a trajectory has brought them.
  const trajectories = tree.trajectories.map(({ id, leaf }) => {
    const segments: Step[][] = [[]];
    let after = Infinity;
    for (const node of pathOf(tree, leaf)) {
      if (node.kind === "tool") {
        after = 0;
        segments.push([]);
        continue;
      }
      if (node.kind === "end" && !forced) continue;
      const drawn = node.kind === "model" && node.logprobs.some((value) => !Number.isNaN(value));
      for (let at = 0; at < node.tokens.length; at++) {
        if (!forced && drawn && Number.isNaN(node.logprobs[at])) continue;
        segments.at(-1)!.push({ node, at, after: after++ });
      }
    }
    const texts = tokenizer && segments.map((steps) => piecesOf(steps, tokenizer));
    const opens = texts && callStarts(segments, texts);
    const mine: number[] = [];
    let index = 0;
    for (const [s, steps] of segments.entries()) {
      const kinds = texts && tokenKinds(texts[s]!);
      for (const [i, { node, at, after }] of steps.entries()) {
        const there = known.get(node.id) ?? [];
        known.set(node.id, there);
        if (there[at] === undefined) {
          const next = opens?.find((open) => open >= index);
          there[at] = tokens.length;
          tokens.push({
            ...{ node: node.id, at, trajectory: id, after },
            value: signalAt(node, at, options),
            before: opens ? (next === undefined ? Infinity : next - index) : NaN,
            place: (i + 0.5) / steps.length,
            ...(kinds ? { kind: kinds[i]! } : {}),
          });
        }
        mine.push(there[at]);
        index++;
      }
    }
    return mine;
  });
  const { id } = tree.task as { id?: unknown };
  return {
    prompt: typeof id === "string" ? id : `#${tree.index}`,
    tokens,
    trajectories,
  };
}

/** The text of each token id, by tokenizer: every trajectory asks for the same few. */
const spelled = new WeakMap<Tokenizer, Map<number, string>>();

function piecesOf(steps: readonly Step[], tokenizer: Tokenizer): string[] {
  const texts = spelled.get(tokenizer) ?? new Map<number, string>();
  spelled.set(tokenizer, texts);
  return steps.map(({ node, at }) => {
    const id = node.tokens[at]!;
    let text = texts.get(id);
    if (text === undefined) {
      text = tokenizer.decode([id], { skipSpecial: false });
      texts.set(id, text);
    }
    return text;
  });
}

/** Where calls open, counted in the trajectory's model tokens. */
function callStarts(segments: readonly Step[][], texts: readonly string[][]): number[] {
  const starts: number[] = [];
  let before = 0;
  for (const [s, steps] of segments.entries()) {
    const stop = steps.findLast(({ node }) => node.stop !== undefined)?.node.stop;
    const pieces = texts[s]!;
    const open = stop === undefined ? -1 : pieces.join("").lastIndexOf(stop.replace("</", "<"));
    if (open >= 0) {
      let end = 0;
      starts.push(before + pieces.findIndex((piece) => (end += piece.length) > open));
    }
    before += steps.length;
  }
  return starts;
}

/** The trees of a call, as a list. */
export function treesOf(action: string, trees: unknown): ProfiledTree[] {
  const list: unknown[] =
    typeof trees === "object" && trees !== null && Symbol.iterator in trees
      ? [...(trees as Iterable<unknown>)]
      : [trees];
  const odd = list.find((tree) => !Array.isArray((tree as Partial<ProfiledTree> | null)?.nodes));
  if (odd === undefined && list.every((tree) => tree !== undefined)) return list as ProfiledTree[];
  throw new TypeError(
    `Cannot ${action}: trees must be a tree or a list of trees, got ${shown(odd)}`,
  );
}
