import type { Policy } from "../../policy/policy.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { packNumbers } from "../page/pack.js";
import { mostSurprise } from "./make-payload.js";
import type { ExplorerPayload, PackedScores } from "./payload.js";
import { factsOf } from "./page/tree/tree-facts.js";
import { type PageTree, unpackTree } from "./page/tree/unpack-tree.js";
import { type WordCard, wordCards } from "./page/tree/word-cards.js";

/** What scores tokens that it is shown. */
export type Scorer = Required<Pick<Policy, "logProbs">>;

/** Where what the model wrote is scored, node by node: in the first trajectory that the node is in. */
function scoredIn(tree: RolloutTree): { row: number; from: number; to: number }[] {
  const places = new Map<number, { row: number; from: number; to: number }>();
  tree.trajectories.forEach(({ nodes }, row) => {
    let at = 0;
    for (const id of nodes) {
      const from = at;
      at += tree.nodes[id]!.tokens.length;
      if (!places.has(id)) places.set(id, { row, from, to: at });
    }
  });
  return tree.nodes.flatMap(({ kind }, id) => (kind === "model" ? [places.get(id)!] : []));
}

/** The number of a token by its place in the page's vocabulary. */
function idsByPlace(tree: RolloutTree, page: PageTree): Map<number, number> {
  const ids = new Map<number, number>();
  tree.nodes.forEach(({ tokens, top }, n) => {
    const { start } = page.nodes[n]!;
    tokens.forEach((id, t) => {
      ids.set(page.tokens[start + t]!, id);
      for (let k = 0; page.top && top && k < Math.min(page.top.width, top.width); k++)
        ids.set(page.top.ids[(start + t) * page.top.width + k]!, top.ids[t * top.width + k]!);
    });
  });
  return ids;
}

/** The tokens from the prompt on to a node, that node's first ones included. */
export function tokensTo(tree: RolloutTree, node: number, count: number): number[] {
  const before = tree
    .path(node)
    .slice(0, -1)
    .flatMap(({ tokens }) => [...tokens]);
  return [...tree.prompt.tokens, ...before, ...tree.nodes[node]!.tokens.subarray(0, count)];
}

/** Every word of the cards behind what stands before it. */
function wordsToScore(tree: RolloutTree, cards: readonly WordCard[], ids: Map<number, number>) {
  return cards.flatMap(({ node, token, words }) => {
    const prompt = tokensTo(tree, node, token);
    return words.map(({ place }) => ({ prompt, tokens: [ids.get(place)!] }));
  });
}

/** What policies say of one tree's tokens, and of the words on its cards, one policy after another. */
export class ScoredAgain {
  readonly #tree: RolloutTree;
  readonly #cards: WordCard[];
  readonly #places: { row: number; from: number; to: number }[];
  readonly #rows: { prompt: ArrayLike<number>; tokens: ArrayLike<number> }[];
  readonly #words: { prompt: number[]; tokens: number[] }[];
  readonly #said = { surprises: [] as number[], entropies: [] as number[], words: [] as number[] };

  constructor(tree: RolloutTree, made: ExplorerPayload) {
    const page = unpackTree(made);
    this.#tree = tree;
    this.#cards = wordCards(factsOf(page));
    this.#places = scoredIn(tree);
    this.#rows = tree.trajectories.map(({ tokens }) => ({ prompt: tree.prompt.tokens, tokens }));
    this.#words = wordsToScore(tree, this.#cards, idsByPlace(tree, page));
  }

  /** What the tree itself says: of the policy that it was sampled under. */
  addOwn(): void {
    const { surprises, entropies, words } = this.#said;
    for (const { kind, logprobs, entropies: own } of this.#tree.nodes) {
      if (kind !== "model") continue;
      for (const logprob of logprobs) surprises.push(-logprob);
      entropies.push(...own);
    }
    for (const card of this.#cards)
      words.push(...card.words.map(({ probability }) => -Math.log(probability)));
  }

  /** What a policy says of it. */
  async add(policy: Scorer): Promise<void> {
    const { temperature } = this.#tree.config.sampling;
    const rated = await policy.logProbs([...this.#rows, ...this.#words], { temperature });
    const { surprises, entropies, words } = this.#said;
    for (const { row, from, to } of this.#places) {
      const said = rated[row]!;
      for (let t = from; t < to; t++) {
        surprises.push(-said.logprobs[t]!);
        entropies.push(said.entropies[t]!);
      }
    }
    words.push(...rated.slice(this.#rows.length).map(({ logprobs }) => -logprobs[0]!));
  }

  /** All of it in few bytes. */
  pack(): PackedScores {
    const { surprises, entropies, words } = this.#said;
    return {
      surprises: packNumbers(surprises, mostSurprise),
      entropies: packNumbers(entropies),
      words: packNumbers(words, mostSurprise),
    };
  }
}
