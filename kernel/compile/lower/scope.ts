import type { api, Scoped, TypeScript } from "../check/typescript.js";

/**
 * The names that earlier cells left, as two scopes around every cell: the latest declaration of each
 * name, and under it an older one whose meaning the latest does not have (a later `interface A` hides
 * the type of an earlier `class A` but not its value, as in tslab).
 */
export class SessionNames {
  readonly node: api.Node;
  readonly #top = new Map<string, api.Symbol>();
  readonly #under = new Map<string, api.Symbol>();
  readonly #ts: TypeScript;

  constructor(ts: TypeScript) {
    this.#ts = ts;
    const scope = (locals: Map<string, api.Symbol>, parent?: api.Node): api.Node => {
      const block: api.Node & Scoped = ts.factory.createBlock([]);
      block.locals = locals;
      if (parent !== undefined) (block as { parent: api.Node }).parent = parent;
      return block;
    };
    this.node = scope(this.#top, scope(this.#under));
  }

  has(name: string, symbol: api.Symbol): boolean {
    const key = this.#ts.escapeLeadingUnderscores(name) as string;
    return this.#top.get(key) === symbol || this.#under.get(key) === symbol;
  }

  knows(name: string): boolean {
    return this.#top.has(this.#ts.escapeLeadingUnderscores(name) as string);
  }

  /**
   * `key` is a name as binding writes it, with one more underscore before two. `meaning` is what the
   * symbol stands for; of an import, what it leads to.
   */
  set(key: string, symbol: api.Symbol, meaning: (symbol: api.Symbol) => number): void {
    const { Value, Type, Namespace } = this.#ts.SymbolFlags;
    const all = Value | Type | Namespace;
    const covered = meaning(symbol) & all;
    const older = [this.#top.get(key), this.#under.get(key)].find(
      (candidate) => candidate !== undefined && (meaning(candidate) & all & ~covered) !== 0,
    );
    this.#top.set(key, symbol);
    if (older === undefined) this.#under.delete(key);
    else this.#under.set(key, older);
  }
}
