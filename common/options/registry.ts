import { shown } from "./check-arguments.js";
import type { OptionRule } from "./check-options.js";
import { nearest } from "./nearest.js";

/** What every definition has: the name it is chosen by. */
export interface Named {
  readonly name: string;
}

/**
 * The definitions of one kind of choice, by name. Those of the library stand in its list; a person's own are added
 * while a program runs, and are from then on known wherever names of the kind are.
 */
export class Registry<D extends Named, Name extends string = string> {
  readonly #byName = new Map<string, D>();
  /** The library's own, in order. */
  readonly built: readonly D[];

  /**
   * @param kind what errors call one of them: `rule`
   * @param parts what a definition has at least one of, besides its name
   */
  constructor(
    readonly kind: string,
    built: readonly D[],
    readonly parts: readonly string[] = [],
  ) {
    this.built = built;
    for (const definition of built) this.add(definition);
  }

  get names(): readonly Name[] {
    return [...this.#byName.keys()] as Name[];
  }

  get all(): readonly D[] {
    return [...new Set(this.#byName.values())];
  }

  has(name: unknown): name is Name {
    return typeof name === "string" && this.#byName.has(name);
  }

  /** Whether something is a definition of the kind, known or not. */
  isOne(value: unknown): value is D {
    if (typeof value !== "object" || value === null) return false;
    const { name } = value as Partial<Named>;
    const has = (part: string) => (value as Record<string, unknown>)[part] !== undefined;
    return typeof name === "string" && (this.parts.length === 0 || this.parts.some(has));
  }

  get(name: string): D | undefined {
    return this.#byName.get(name);
  }

  /**
   * Makes a definition known under its name, and under another where one is given: the file that it came from.
   *
   * @throws RangeError where the name is another definition's
   */
  add(definition: D, name: string = definition.name): D {
    const known = this.#byName.get(name);
    if (known !== undefined && known !== definition) {
      throw new RangeError(
        `Cannot add a ${this.kind}: its name must not be another's, got ${name}; known are ${this.names.join(", ")}`,
      );
    }
    this.#byName.set(name, definition);
    return definition;
  }

  /** The name that a definition is known by from here on: where another has its own, that with a number. */
  nameOf(definition: D): string {
    for (let count = 1; ; count++) {
      const name = count === 1 ? definition.name : `${definition.name}-${count}`;
      const known = this.#byName.get(name);
      if (known === undefined) this.add(definition, name);
      if (known === undefined || known === definition) return name;
    }
  }

  /** The definition that an option names or is. */
  of(action: string, option: string, given: Name | D): D {
    if (typeof given === "object") return given;
    const found = this.#byName.get(given);
    if (found) return found;
    const near = typeof given === "string" ? nearest(given, this.names) : undefined;
    throw new RangeError(
      `Cannot ${action}: ${option} must be one of ${this.names.join(", ")}, got ${shown(given)}${near === undefined ? "" : `; did you mean "${near}"?`}`,
    );
  }

  /** What an option may be that takes a name or a definition. */
  readonly rule: OptionRule<Name | D> = ruleOf(this);
}

/** What is added later is known to a check that was made before. */
function ruleOf<D extends Named, Name extends string>(
  registry: Registry<D, Name>,
): OptionRule<Name | D> {
  return {
    get must() {
      return `one of ${registry.names.join(", ")}`;
    },
    get names() {
      return registry.names;
    },
    holds: (value) => registry.has(value) || registry.isOne(value),
  };
}
