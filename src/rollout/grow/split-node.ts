import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { segmentEntropy, type EntropyOptions } from "../branch/segment-entropy.js";
import type { Segment } from "../../policy/policy.js";
import { cutSupport } from "../../policy/token-sets.js";
import type { Span } from "./calls.js";
import type { LiveNode, LiveTrajectory } from "./live-trajectory.js";

/** A text of tokens that others follow: without the character that they may begin and not end. */
function openText(tokens: ArrayLike<number>, tokenizer: Tokenizer): string {
  return tokenizer.decode(tokens, { skipSpecial: true }).replace(/\uFFFD+$/, "");
}

/** The text of what a trajectory wrote next: together with what stands directly before it, it is whole. */
export function textAfter(
  leaf: LiveNode | undefined,
  segment: Pick<Segment, "tokens" | "finish">,
  tokenizer: Tokenizer,
): string {
  const before: LiveNode[] = [];
  for (let node = leaf; node?.kind === "model"; node = node.parent) before.unshift(node);
  const known = before.map(({ text }) => text).join("");
  const ids = [...before.flatMap(({ tokens }) => [...tokens]), ...segment.tokens];
  const all =
    segment.finish === "length"
      ? openText(ids, tokenizer)
      : tokenizer.decode(ids, { skipSpecial: true });
  return all.startsWith(known)
    ? all.slice(known.length)
    : tokenizer.decode(segment.tokens, { skipSpecial: true });
}

/** How many of a trajectory's last tokens the model wrote in one go with what it writes next. */
export function tokensBegun(leaf: LiveNode | undefined): number {
  let count = 0;
  for (let node = leaf; node?.kind === "model"; node = node.parent) count += node.tokens.length;
  return count;
}

/** Where results stand in a trajectory's tokens, whose response begins at a place. */
export function resultSpans(leaf: LiveNode | undefined, responseAt: number): Span[] {
  const path: LiveNode[] = [];
  for (let node = leaf; node; node = node.parent) path.unshift(node);
  const spans: Span[] = [];
  let at = responseAt;
  for (const { kind, tokens } of path) {
    const end = at + tokens.length;
    if (kind === "tool") spans.push([at, end]);
    at = end;
  }
  return spans;
}

/** The node that ends behind a trajectory's first `at` tokens; divides the one that does not end there. */
export function nodeBefore(
  trajectory: LiveTrajectory,
  at: number,
  how: Parameters<typeof splitNode>[2],
): { node: LiveNode | undefined; whole: boolean } {
  let end = trajectory.length;
  for (let node = trajectory.leaf; node; node = node.parent) {
    if (end === at) return { node, whole: true };
    const start = end - node.tokens.length;
    if (start < at) return { node: splitNode(node, at - start, how), whole: false };
    end = start;
  }
  return { node: undefined, whole: true };
}

/**
 * Divides a node that the model wrote, so that a trajectory can leave it in its middle. The node itself becomes
 * its second part: whoever stands on it or after it stays where he was. The first part carries what was
 * measured of the whole.
 */
function splitNode(
  node: LiveNode,
  at: number,
  { tokenizer, entropy }: { tokenizer: Tokenizer; entropy: EntropyOptions },
): LiveNode {
  const first: LiveNode = {
    ...node,
    tokens: node.tokens.slice(0, at),
    logprobs: node.logprobs.slice(0, at),
    entropies: node.entropies.slice(0, at),
    finish: "length",
  };
  delete first.stop;
  delete first.branch;
  const text = openText(first.tokens, tokenizer);
  first.text = node.text.startsWith(text) ? text : "";
  node.text = node.text.slice(first.text.length);
  const { length } = node.tokens;
  node.tokens = node.tokens.slice(at);
  node.logprobs = node.logprobs.slice(at);
  node.entropies = node.entropies.slice(at);
  if (node.top) {
    const { width, ids, logprobs } = node.top;
    const cut = at * width;
    first.top = { width, ids: ids.slice(0, cut), logprobs: logprobs.slice(0, cut) };
    node.top = { width, ids: ids.slice(cut), logprobs: logprobs.slice(cut) };
  }
  if (node.support) {
    const [head, tail] = [cutSupport(node, 0, at), cutSupport(node, at, length)];
    delete first.support;
    delete node.support;
    Object.assign(first, head);
    Object.assign(node, tail);
  }
  if (node.versions) {
    first.versions = node.versions.slice(0, at);
    node.versions = node.versions.slice(at);
  }
  if (node.run) {
    // Tokens come one after another; when each came is not known.
    const { start, end } = node.run;
    const between = start + ((end - start) * at) / length;
    first.run = { start, end: between };
    node.run = { ...node.run, start: between };
  }
  node.entropy = segmentEntropy(node, tokenizer.vocabSize, entropy);
  node.parent = first;
  return first;
}
