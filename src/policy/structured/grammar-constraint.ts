import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Constraint } from "../policy.js";
import { type Expression, Grammar, GrammarLimit, NONE } from "./grammar.js";
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

/** Grammars that a tokenizer keeps, how much all of them may have made, and one by use. */
const KEPT_GRAMMARS = 16;
const MOST_KEPT = 2_000_000;
const MOST_GROWN = 1_000_000;

const kept = new WeakMap<Tokenizer, Map<string, GrammarConstraint>>();

/** The constraint of a grammar that is told by a key; what many requests ask for is made once. */
export function constraintFor(
  tokenizer: Tokenizer,
  key: string,
  make: (grammar: Grammar) => Expression,
): Constraint {
  const own = kept.get(tokenizer) ?? new Map<string, GrammarConstraint>();
  kept.set(tokenizer, own);
  let found = own.get(key);
  if (found === undefined || found.work > MOST_GROWN) {
    const grammar = new Grammar();
    const start = make(grammar);
    found = new GrammarConstraint(new TokenGrammar(grammar, tokenizer), start);
  }
  own.delete(key);
  own.set(key, found);
  let made = [...own.values()].reduce((sum, { work }) => sum + work, 0);
  for (const [oldest, { work }] of own) {
    if (own.size === 1 || (own.size <= KEPT_GRAMMARS && made <= MOST_KEPT)) break;
    own.delete(oldest);
    made -= work;
  }
  return found.fork();
}

/** A constraint that has taken up these tokens; undefined where it allows them not. */
export function behind(constraint: Constraint, tokens: Iterable<number>): Constraint | undefined {
  const fork = constraint.fork();
  for (const id of tokens) {
    const word = fork.mask()[id >>> 5] ?? 0;
    if (((word >>> (id & 31)) & 1) === 0) return undefined;
    fork.take(id);
  }
  return fork;
}

/** Generates texts of a grammar. */
export class GrammarConstraint implements Constraint {
  readonly #of: TokenGrammar;
  #state: Expression;

  constructor(of: TokenGrammar, state: Expression) {
    this.#of = of;
    this.#state = state;
  }

  /** How much its grammar has made so far. */
  get work(): number {
    return this.#of.grammar.work;
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
