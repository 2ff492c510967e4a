import {
  type BreakpointRule,
  DEBUG_TARGET,
  type DebugSource,
  type DescribedValue,
} from "../../contract/debug.js";
import { mark } from "../../contract/added.js";
import type { FormatValue } from "../../display/displayable.js";
import type { MimeBundle } from "../../host/host.js";
import type { Channel } from "../channel.js";
import type { Tracebacks } from "../traceback.js";
import type * as looking from "./look.js";

/**
 * Names of the session as global ones, for code that is evaluated in a function that does not know them;
 * a variable of that function still comes first. Only while the thread stands: nothing else runs that
 * could see them. Returns what takes them away again.
 */
function expose(variables: Record<string, unknown>, names: readonly string[]): () => void {
  const before = new Map<string, PropertyDescriptor | undefined>();
  for (const name of names) {
    if (!Object.hasOwn(variables, name)) continue;
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
    if (descriptor?.configurable === false) continue;
    before.set(name, descriptor);
    Object.defineProperty(globalThis, name, {
      get: () => variables[name],
      set: (value) => (variables[name] = value),
      configurable: true,
      enumerable: false,
    });
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  };
}

// What the debugger asks of values, here where they are. The protocol's thread calls it through the
// inspector, also in the middle of a loop; so it is made before there is anything to debug, and small:
// what looks at values is loaded when there is time.

interface DebugParts {
  tracebacks: Tracebacks;
  /** The session's variables as they are now. */
  variables: () => Record<string, unknown>;
  declare: (name: string, value: unknown) => void;
  channel: Channel;
  /** Where a logpoint's line goes, besides to the client. */
  print: (text: string) => void;
}

/** Values kept for a client that may look into them. */
class Held {
  constructor(
    readonly values: readonly unknown[],
    readonly described: readonly DescribedValue[],
  ) {}
}

export class DebugTarget {
  /** An error that nobody will catch is to be recognised as such: see run-uncaught.ts. */
  findsUncaught = false;
  readonly #parts: DebugParts;
  readonly #hits = new Map<number, number>();
  #look: typeof looking | undefined;
  #format: FormatValue | undefined;
  #hide: (() => void) | undefined;

  constructor(parts: DebugParts) {
    this.#parts = parts;
    Object.defineProperty(globalThis, Symbol.for(DEBUG_TARGET), { value: this });
  }

  /** Loads what looks at values. */
  async load(): Promise<void> {
    this.#look ??= await import("./look.js");
    this.#format ??= (await import("../../display/format.js")).formatValue;
  }

  turn(findsUncaught: boolean): void {
    this.findsUncaught = findsUncaught;
  }

  sourceOf(url: string): DebugSource {
    return this.#parts.tracebacks.sourceOf(url);
  }

  /** The local files that cells have imported. */
  files(): string[] {
    return [...this.#parts.tracebacks.modules.keys()];
  }

  /** Makes names of the session visible to code that is evaluated in some function, until `hide`. */
  expose(names: readonly string[]): void {
    this.#hide = expose(this.#parts.variables(), names);
  }

  hide(): void {
    this.#hide?.();
    this.#hide = undefined;
  }

  /** One value, to be looked at. */
  hold(name: string, value: unknown): Held {
    return new Held([value], [this.#looking().describe(name, value)]);
  }

  /** The variables of scopes, the innermost first. */
  scope(...scopes: Record<string, unknown>[]): Held {
    const found = new Map<string, unknown>();
    for (const scope of scopes) {
      for (const name of Object.keys(scope)) {
        if (!found.has(name) && !isGenerated(name)) found.set(name, scope[name]);
      }
    }
    return this.#holdAll([...found]);
  }

  session(): Held {
    return this.#holdAll(this.#looking().readable(this.#parts.variables()));
  }

  /** What is inside of a value: its elements, or what has a name. */
  inside(held: Held, index: number, filter: string, start: number, count: number): Held {
    const { values, described } = this.#looking().inside(held.values[index], filter, start, count);
    return new Held(values, described);
  }

  at(held: Held, index: number): unknown {
    return held.values[index];
  }

  /** Sets what stands at `name` in a value; what it was written to is read again. */
  assign(held: Held, index: number, name: string, value: unknown): Held {
    return this.hold(name, this.#looking().assign(held.values[index], name, value));
  }

  assignSession(name: string, value: unknown): Held {
    const variables = this.#parts.variables();
    variables[name] = value;
    return this.hold(name, variables[name]);
  }

  declare(name: string, value: unknown): void {
    this.#parts.declare(name, value);
  }

  /** As a cell would show it; where that takes time and there is none, as a line. */
  rich(value: unknown, canWait: boolean): Promise<MimeBundle> | MimeBundle {
    const plain = (): MimeBundle => ({ "text/plain": this.#looking().describe("", value).value });
    const bundle = this.#format?.(value);
    if (bundle instanceof Promise) return canWait ? bundle.then((b) => b ?? plain()) : plain();
    return bundle ?? plain();
  }

  /** Asked by V8 at a breakpoint that is more than a line. */
  stops(rule: BreakpointRule, test?: () => unknown, log?: () => unknown[]): boolean {
    const hide = expose(this.#parts.variables(), rule.names);
    try {
      if (test !== undefined && !test()) return false;
      const count = (this.#hits.get(rule.id) ?? 0) + 1;
      this.#hits.set(rule.id, count);
      if (rule.hits !== undefined && !isHit(count, rule.hits)) return false;
      if (log === undefined) return true;
      const text = log()
        .map((part) => this.#logged(part))
        .join("");
      this.#parts.print(`${text}\n`);
      this.#tell(`${text}\n`);
    } catch (error) {
      this.#tell(`A breakpoint's expression failed: ${String(error)}\n`);
    } finally {
      hide();
    }
    return false;
  }

  /** A breakpoint that is gone, whose count goes with it. */
  forget(id: number): void {
    this.#hits.delete(id);
  }

  #tell(text: string): void {
    this.#parts.channel.send({ type: "debug-output", text });
  }

  #logged(part: unknown): string {
    return typeof part === "string" ? part : (this.#look?.describe("", part).value ?? String(part));
  }

  #holdAll(entries: (readonly [string, unknown])[]): Held {
    const { describe } = this.#looking();
    return new Held(
      entries.map(([, value]) => value),
      entries.map(([name, value]) => ({ ...describe(name, value), access: name })),
    );
  }

  #looking(): typeof looking {
    if (this.#look !== undefined) return this.#look;
    throw new Error("Cannot look at values yet: the kernel has been busy since it was first asked");
  }
}

/** Names that a cell's code has of us. */
const isGenerated = (name: string): boolean =>
  name.startsWith(mark) || /^(?:__default|this|arguments)$/.test(name);

function isHit(
  count: number,
  { sign, count: wanted }: NonNullable<BreakpointRule["hits"]>,
): boolean {
  switch (sign) {
    case "==":
      return count === wanted;
    case ">=":
      return count >= wanted;
    case ">":
      return count > wanted;
    case "<":
      return count < wanted;
    case "<=":
      return count <= wanted;
    case "%":
      return count % wanted === 0;
  }
}
