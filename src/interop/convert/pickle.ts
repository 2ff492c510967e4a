import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { refusedOpcodes, tellPickled } from "./pickle-names.js";

/**
 * What a name of a pickle stands for. `call` and `make` build plain data out of plain data; a name
 * without them is only a name.
 */
export interface PickleGlobal {
  readonly name: string;
  /** What REDUCE gives: the name, called. */
  call?(args: readonly unknown[]): unknown;
  /** What NEWOBJ gives: the name, instantiated. */
  make?(args: readonly unknown[]): unknown;
}

/**
 * An object of a class on the list: its name and its attributes. Nothing of it can be run.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { PickleObject, unpickle } from "arpo-lab/experimental/convert";
 *
 * const make = (args: readonly unknown[]) => new PickleObject("Price", args);
 * const globals = new Map([["shop Price", { name: "shop.Price", make }]]);
 * const pickle = Buffer.from("\x80\x02cshop\nPrice\n)\x81}U\x01aK\x05sb.", "latin1"); // a = 5
 * const price = unpickle(pickle, { globals });
 * assert.ok(price instanceof PickleObject);
 * assert.deepEqual([price.type, price.state.get("a")], ["Price", 5]);
 * ```
 */
export class PickleObject {
  readonly state = new Map<unknown, unknown>();

  constructor(
    readonly type: string,
    readonly args: readonly unknown[] = [],
  ) {}
}

/** What a pickle may refer to. */
export interface UnpickleOptions {
  /** The names a pickle may use, as `module name`. */
  globals: ReadonlyMap<string, PickleGlobal>;
  /** What a persistent id (a storage, in PyTorch's files) stands for. */
  persistent?(id: unknown): unknown;
}

const mostAttributes = 100;

/** Sets an object's attributes from what it was saved with: a dict, or a tuple of dict and slots. */
export function addAttributes(target: PickleObject, state: unknown): void {
  const parts: readonly unknown[] = Array.isArray(state) ? state : [state];
  for (const part of parts.slice(0, 2)) {
    if (part === null) continue;
    // A limit, because attributes are copied: one large dict for many objects would fill the memory.
    if (!(part instanceof Map) || part.size > mostAttributes || parts.length > 2) {
      throw new SyntaxError(
        `Cannot read a pickle: the attributes of ${target.type} must be a dict of at most ${mostAttributes}, got ${tellPickled(part)}`,
      );
    }
    for (const [key, value] of part) target.state.set(key, value);
  }
}

const mark = Symbol("mark");
const longestInteger = 64; // bytes; the largest in a torch archive have 8

/**
 * Reads a pickle as data. A pickle is a program for a small stack machine that may call any function
 * there is; this machine knows only the names it is given, calls nothing of Python, and refuses all
 * others with their name before anything of them happens. Tuples come as frozen arrays, lists as
 * arrays, dicts as Maps; memory is at most proportional to the pickle's length.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { unpickle } from "arpo-lab/experimental/convert";
 *
 * const pickle = Buffer.from("\x80\x02}U\x01aK\x05s.", "latin1"); // {"a": 5}
 * assert.deepEqual(unpickle(pickle, { globals: new Map() }), new Map([["a", 5]]));
 *
 * const evil = Buffer.from("\x80\x02cposix\nsystem\nU\x02id\x85R.", "latin1");
 * assert.throws(() => unpickle(evil, { globals: new Map() }), /posix\.system/);
 * ```
 */
export function unpickle(bytes: Uint8Array, options: UnpickleOptions): unknown {
  checkArguments("read a pickle", { bytes }, { bytes: "bytes" });
  checkOptions("read a pickle", options, { globals: "items", persistent: "function?" });
  return new Machine(bytes, options).run();
}

class Machine {
  private readonly view: DataView;
  private readonly text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  private readonly stack: unknown[] = [];
  private readonly memo = new Map<number, unknown>();
  private readonly known: ReadonlySet<unknown>;
  private at = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly options: UnpickleOptions,
  ) {
    this.known = new Set(options.globals.values());
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): unknown {
    for (;;) {
      const opcode = this.bytes[this.take(1)]!;
      if (opcode === 0x2e /* . STOP */) {
        const value = this.pop();
        if (this.stack.length > 0)
          this.refuse("STOP must find one value", `${this.stack.length} more`);
        return value;
      }
      this.step(opcode);
    }
  }

  private refuse(rule: string, got: string): never {
    throw new SyntaxError(`Cannot read a pickle: ${rule}, got ${got} before byte ${this.at}`);
  }

  /** Moves past `count` bytes; gives where they begin. */
  private take(count: number): number {
    const from = this.at;
    if (!(count <= this.bytes.length - from)) {
      this.refuse(`it must not end early (${count} more bytes)`, `${this.bytes.length - from}`);
    }
    this.at += count;
    return from;
  }

  private slice(count: number): Uint8Array {
    const from = this.take(count);
    return this.bytes.subarray(from, from + count);
  }

  private string(count: number): string {
    const part = this.slice(count);
    try {
      return this.text.decode(part);
    } catch {
      return this.refuse("text must be UTF-8", "other bytes");
    }
  }

  private line(): string {
    const end = this.bytes.indexOf(0x0a, this.at);
    if (end < 0) this.refuse("a name must end with its line", "no end");
    const text = this.string(end - this.at);
    this.at++;
    return text;
  }

  private u8 = () => this.bytes[this.take(1)]!;
  private u16 = () => this.view.getUint16(this.take(2), true);
  private u32 = () => this.view.getUint32(this.take(4), true);
  private u64 = () => Number(this.view.getBigUint64(this.take(8), true));

  private long(count: number): number | bigint {
    if (count > longestInteger) {
      this.refuse(`an integer must have at most ${longestInteger} bytes`, `${count}`);
    }
    let value = 0n;
    const part = this.slice(count);
    for (let i = count - 1; i >= 0; i--) value = (value << 8n) | BigInt(part[i]!);
    if (count > 0) value = BigInt.asIntN(8 * count, value);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  private push(value: unknown): void {
    this.stack.push(value);
  }

  private pop(): unknown {
    if (this.stack.length === 0) this.refuse("the stack must hold a value", "none");
    const value = this.stack.pop();
    return value === mark ? this.refuse("the stack must hold a value", "a mark") : value;
  }

  private top(): unknown {
    const value = this.stack.at(-1);
    return value === undefined || value === mark
      ? this.refuse("the stack must hold a value", tellPickled(value))
      : value;
  }

  private popMark(): unknown[] {
    const from = this.stack.lastIndexOf(mark);
    if (from < 0) this.refuse("the stack must hold a mark", "none");
    const values = this.stack.splice(from);
    values.shift();
    return values;
  }

  private tuple(count: number): void {
    const values = Array.from({ length: count }, () => this.pop()).reverse();
    this.push(Object.freeze(values));
  }

  private append(values: readonly unknown[]): void {
    const list = this.top();
    if (!Array.isArray(list) || Object.isFrozen(list)) {
      return this.refuse("items must go to a list", tellPickled(list));
    }
    for (const value of values) list.push(value);
  }

  private addAll(values: readonly unknown[]): void {
    const set = this.top();
    if (!(set instanceof Set)) return this.refuse("items must go to a set", tellPickled(set));
    for (const value of values) set.add(value);
  }

  private setItems(values: readonly unknown[]): void {
    const dict = this.top();
    if (!(dict instanceof Map)) return this.refuse("keys must go to a dict", tellPickled(dict));
    if (values.length % 2 !== 0) this.refuse("keys must have values", `${values.length} of both`);
    for (let i = 0; i < values.length; i += 2) dict.set(values[i], values[i + 1]);
  }

  private remember(key: number): void {
    this.memo.set(key, this.top());
  }

  private recall(key: number): void {
    if (!this.memo.has(key)) this.refuse("a memo must be written before it is read", `${key}`);
    this.push(this.memo.get(key));
  }

  private global(module: unknown, name: unknown): void {
    if (typeof module !== "string" || typeof name !== "string") {
      return this.refuse(
        "a global must be named by text",
        `${tellPickled(module)}, ${tellPickled(name)}`,
      );
    }
    const known = this.options.globals.get(`${module} ${name}`);
    if (!known) {
      throw new TypeError(
        `Cannot read a pickle: every global must be on the list of those that are only data, got ${JSON.stringify(`${module}.${name}`.slice(0, 200))}`,
      );
    }
    this.push(known);
  }

  /** A global and its arguments, from the top of the stack. */
  private application(action: "call" | "make"): void {
    const args = this.pop();
    const what = this.pop() as Partial<PickleGlobal> | null;
    if (!this.known.has(what))
      return this.refuse(`only a global can be applied`, tellPickled(what));
    if (!Array.isArray(args) || !Object.isFrozen(args)) {
      return this.refuse(`${what!.name} must be given a tuple`, tellPickled(args));
    }
    const apply = what![action];
    if (!apply) this.refuse(`${what!.name} must be used as data, not by ${action}`, "a use");
    this.push(apply.call(what, args));
  }

  private build(): void {
    const state = this.pop();
    const target = this.top();
    // A dict's attributes (the `_metadata` of a state dict) say nothing about its items.
    if (target instanceof Map) {
      if (state instanceof Map) return;
      return this.refuse("a dict's attributes must be a dict", tellPickled(state));
    }
    if (!(target instanceof PickleObject)) {
      return this.refuse(
        "attributes must go to an object of a class on the list",
        tellPickled(target),
      );
    }
    addAttributes(target, state);
  }

  private step(opcode: number): void {
    switch (opcode) {
      case 0x80: {
        const protocol = this.u8();
        if (protocol < 2 || protocol > 5)
          this.refuse("the protocol must be 2, 3, 4 or 5", `${protocol}`);
        return;
      }
      case 0x95: // FRAME
        if (this.u64() > this.bytes.length - this.at) this.refuse("a frame must fit", "less");
        return;
      case 0x28: // MARK
        return this.push(mark);
      case 0x30: // POP
        if (this.stack.pop() === undefined) this.refuse("the stack must hold a value", "none");
        return;
      case 0x31: // POP_MARK
        return void this.popMark();
      case 0x32: // DUP
        return this.push(this.top());
      case 0x4e: // NONE
        return this.push(null);
      case 0x88: // NEWTRUE
        return this.push(true);
      case 0x89: // NEWFALSE
        return this.push(false);
      case 0x4a: // BININT
        return this.push(this.view.getInt32(this.take(4), true));
      case 0x4b: // BININT1
        return this.push(this.u8());
      case 0x4d: // BININT2
        return this.push(this.u16());
      case 0x8a: // LONG1
        return this.push(this.long(this.u8()));
      case 0x8b: // LONG4
        return this.push(this.long(this.u32()));
      case 0x47: // BINFLOAT
        return this.push(this.view.getFloat64(this.take(8), false));
      case 0x55: // SHORT_BINSTRING
      case 0x8c: // SHORT_BINUNICODE
        return this.push(this.string(this.u8()));
      case 0x54: // BINSTRING
      case 0x58: // BINUNICODE
        return this.push(this.string(this.u32()));
      case 0x8d: // BINUNICODE8
        return this.push(this.string(this.u64()));
      case 0x43: // SHORT_BINBYTES
        return this.push(this.slice(this.u8()));
      case 0x42: // BINBYTES
        return this.push(this.slice(this.u32()));
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        return this.push(this.slice(this.u64()));
      default:
        return this.stepContainers(opcode);
    }
  }

  private stepContainers(opcode: number): void {
    switch (opcode) {
      case 0x5d: // EMPTY_LIST
        return this.push([]);
      case 0x61: // APPEND
        return this.append([this.pop()]);
      case 0x65: // APPENDS
        return this.append(this.popMark());
      case 0x29: // EMPTY_TUPLE
        return this.tuple(0);
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        return this.tuple(opcode - 0x84);
      case 0x74: // TUPLE
        return this.push(Object.freeze(this.popMark()));
      case 0x7d: // EMPTY_DICT
        return this.push(new Map());
      case 0x73: {
        // SETITEM
        const value = this.pop();
        return this.setItems([this.pop(), value]);
      }
      case 0x75: // SETITEMS
        return this.setItems(this.popMark());
      case 0x8f: // EMPTY_SET
        return this.push(new Set());
      case 0x90: // ADDITEMS
        return this.addAll(this.popMark());
      case 0x91: // FROZENSET
        return this.push(new Set(this.popMark()));
      case 0x71: // BINPUT
        return this.remember(this.u8());
      case 0x72: // LONG_BINPUT
        return this.remember(this.u32());
      case 0x94: // MEMOIZE
        return this.remember(this.memo.size);
      case 0x68: // BINGET
        return this.recall(this.u8());
      case 0x6a: // LONG_BINGET
        return this.recall(this.u32());
      case 0x63: // GLOBAL
        return this.global(this.line(), this.line());
      case 0x93: {
        // STACK_GLOBAL
        const name = this.pop();
        return this.global(this.pop(), name);
      }
      case 0x52: // REDUCE
        return this.application("call");
      case 0x81: // NEWOBJ
        return this.application("make");
      case 0x92: {
        // NEWOBJ_EX
        const named = this.pop();
        if (!(named instanceof Map) || named.size > 0) {
          this.refuse("an object must have no named arguments", tellPickled(named));
        }
        return this.application("make");
      }
      case 0x62: // BUILD
        return this.build();
      case 0x51: {
        // BINPERSID
        const id = this.pop();
        if (!this.options.persistent)
          return this.refuse("no persistent id is known here", tellPickled(id));
        return this.push(this.options.persistent(id));
      }
      default: {
        const name = refusedOpcodes[opcode] ?? `0x${opcode.toString(16).padStart(2, "0")}`;
        return this.refuse("every opcode must be one that describes data", name);
      }
    }
  }
}
