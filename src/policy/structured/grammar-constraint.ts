import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Constraint } from "../policy.js";
import { type Expression, type Grammar, GrammarLimit, NONE } from "./grammar.js";
import { TokenTree } from "./token-tree.js";

/** Bytes of masks that a grammar keeps. */
const KEPT_BYTES = 16 * 2 ** 20;

const trees = new WeakMap<Tokenizer, TokenTree>();

function treeOf(tokenizer: Tokenizer): TokenTree {
  const tree = trees.get(tokenizer) ?? new TokenTree(tokenizer);
  trees.set(tokenizer, tree);
  return tree;
}

/** A grammar on a tokenizer: the masks of its states, the newest kept. */
export class TokenGrammar {
  readonly grammar: Grammar;
  readonly tree: TokenTree;
  readonly #masks = new Map<Expression, Uint32Array>();
  readonly #most: number;

  constructor(grammar: Grammar, tokenizer: Tokenizer) {
    this.grammar = grammar;
    this.tree = treeOf(tokenizer);
    this.#most = Math.max(1, Math.floor(KEPT_BYTES / (4 * this.tree.words)));
  }

  mask(state: Expression): Uint32Array {
    const known = this.#masks.get(state);
    const mask = known ?? this.#bounded(() => this.tree.mask(this.grammar, state));
    this.#masks.delete(state);
    this.#masks.set(state, mask);
    if (this.#masks.size > this.#most) this.#masks.delete(this.#masks.keys().next().value!);
    return mask;
  }

  after(state: Expression, id: number): Expression {
    return this.#bounded(() => this.tree.after(this.grammar, state, id));
  }

  #bounded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof GrammarLimit)) throw error;
      throw new RangeError(
        `Cannot generate: what a constraint allows must be told by fewer states, got ${error.message}; use a simpler schema`,
        { cause: error },
      );
    }
  }
}

/** Generates texts of a grammar. */
export class GrammarConstraint implements Constraint {
  readonly #of: TokenGrammar;
  #state: Expression;

  constructor(of: TokenGrammar, state: Expression) {
    this.#of = of;
    this.#state = state;
  }

  mask(): Uint32Array {
    return this.#of.mask(this.#state);
  }

  take(id: number): void {
    // An end token ends what was written; nothing is asked after it.
    if (id === this.#of.tree.eosId && this.#of.grammar.mayEnd(this.#state)) return;
    const next = this.#of.after(this.#state, id);
    if (next === NONE) {
      throw new RangeError(
        `Cannot generate: a constraint must be told of a token that it allows, got ${id}`,
      );
    }
    this.#state = next;
  }

  fork(): GrammarConstraint {
    return new GrammarConstraint(this.#of, this.#state);
  }
}
