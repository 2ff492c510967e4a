// The variables that cells share, on the thread where cells run.

/** A name of the session. Cells that use it hold this object; redeclaring the name changes it. */
export class Ref {
  #get: () => unknown;
  #set: ((value: unknown) => void) | undefined;
  /** Whether a cell has declared it. */
  declared = false;

  constructor(readonly name: string) {
    this.#get = () => {
      if (name in globalThis) return (globalThis as Record<string, unknown>)[name];
      throw new ReferenceError(`${name} is not defined`);
    };
    this.#set = (value) => {
      if (!(name in globalThis)) throw new ReferenceError(`${name} is not defined`);
      (globalThis as Record<string, unknown>)[name] = value;
    };
  }

  get v(): unknown {
    return this.#get();
  }

  set v(value: unknown) {
    if (this.#set === undefined) {
      throw new TypeError(`Cannot assign to ${this.name}: it was declared const or imported`);
    }
    this.#set(value);
  }

  /** Makes the name stand for another variable. */
  bind(get: () => unknown, set?: (value: unknown) => void): void {
    this.#get = get;
    this.#set = set;
    this.declared = true;
  }
}

const { create, defineProperty } = Object;
const { deleteProperty } = Reflect;
const dictionary = <T>(): Record<string, T> => create(null) as Record<string, T>;

/** All names of a session and which cell defined them. */
export class Names {
  /** For programs: each name a property, live. */
  readonly variables = dictionary<unknown>();
  // Without methods of maps and arrays, which a cell may have replaced: cells themselves come here.
  readonly #refs = dictionary<Ref>();
  readonly #defined = dictionary<Record<string, true>>();

  ref(name: string): Ref {
    return (this.#refs[name] ??= new Ref(name));
  }

  define(
    cell: string,
    name: string,
    get: () => unknown,
    set: ((value: unknown) => void) | undefined,
  ): void {
    const ref = this.ref(name);
    if (!ref.declared) {
      defineProperty(this.variables, name, {
        get: () => ref.v,
        set: (value) => (ref.v = value),
        enumerable: true,
        configurable: true,
      });
    }
    ref.bind(get, set);
    (this.#defined[cell] ??= dictionary())[name] = true;
  }

  /** The names a cell has defined so far; asking ends the account. */
  take(cell: string): string[] {
    const defined = Object.keys(this.#defined[cell] ?? {});
    deleteProperty(this.#defined, cell);
    return defined;
  }
}
