import { element } from "../../../page/element.js";
import { sharedTokens } from "../tree/paths.js";
import { tokenText } from "../tree/token-text.js";
import { visible } from "../tree/words.js";
import type { ExplorerView } from "../view.js";
import { segmentText } from "./segment-text.js";

/** Two trajectories: what they share, where they part, and what each writes there. */
export function comparison(view: ExplorerView, a: number, b: number): HTMLElement {
  const { facts } = view;
  const { tree, paths, turn } = facts;
  const [one, two] = [paths[a]!, paths[b]!];
  let common = 0;
  let shared = 0;
  while (one[common] !== undefined && one[common] === two[common]) {
    shared += tree.nodes[one[common]!]!.length;
    common++;
  }
  const until = sharedTokens(tree, a, b);
  const same = until - shared;
  // Where the first token stands that differs; the last segment where there is none.
  const at = (path: number[]) => {
    const node =
      path.find((id) => tree.nodes[id]!.depth + tree.nodes[id]!.length > until) ?? path.at(-1);
    if (node === undefined) return undefined;
    const { start, depth, length } = tree.nodes[node]!;
    const offset = until - depth;
    return { node, offset, token: offset < length ? tree.tokens[start + offset] : undefined };
  };
  const [left, right] = [at(one), at(two)];
  const words: (string | Node)[] = [element("b", {}, "Compared. ")];
  words.push(
    common > 0
      ? `They share ${shared} tokens and part after turn ${turn[one[common - 1]!]! + 1}.`
      : "They start apart, from the prompt.",
  );
  if (same > 0) words.push(` Then they have the same ${same} tokens`);
  const [first, second] = [left?.token, right?.token];
  if (first !== undefined && second !== undefined) {
    const quoted = (place: number) => element("code", {}, visible(tokenText(tree, place)));
    words.push(same > 0 ? "; then " : " First ", quoted(first), " against ", quoted(second), ".");
  } else if (same > 0) words.push(".");
  const side = (trajectory: number, place: typeof left) => {
    const answer = facts.answers[trajectory]!;
    const { score } = tree.trajectories[trajectory]!;
    return [
      element(
        "p",
        { class: "ax-note" },
        element("b", {}, `Trajectory ${trajectory}`),
        answer === "" ? "" : ` answered ${answer}`,
        score == null ? "" : `, score ${Number(score.toPrecision(3))}`,
      ),
      ...(place === undefined ? [] : [segmentText(view, place.node, place.offset)]),
    ];
  };
  return element(
    "div",
    { class: "ax-compare" },
    element("p", { class: "ax-note" }, ...words),
    ...side(a, left),
    ...side(b, right),
  );
}
