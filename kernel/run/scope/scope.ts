import { runBash } from "#kernel-platform/bash";
import type { Namespace } from "#kernel-platform/own-module";
import { readFileSync } from "#platform/files";
import { currentFolder } from "#platform/process";
import type { CellScope, LoadedModule, MadeNames } from "../../contract/compiler.js";
import { setStageRegister, stageSpecifier } from "../../contract/stage.js";
import {
  base64,
  displaySymbol,
  isDisplayable,
  normalizeBundle,
  sniffImage,
} from "../../display/displayable.js";
import { Rich } from "../../display/rich.js";
import type { Comm, CommOptions, KernelHost, MimeBundle } from "../../host/host.js";
import "../function-text.js";
import { attributesOf, givenTo, metaOf, Modules } from "./modules.js";

// `Deno.jupyter` in a cell: its documented API on this kernel's display, so that notebooks written for
// Deno's kernel run. Nothing else of Deno is here, and only cells have the name: a package that saw it
// would take Node for Deno.

type Content = Record<string, unknown>;

interface DisplayOptions {
  raw?: boolean;
  update?: boolean;
  display_id?: string;
}

const record = (value: unknown): Content =>
  typeof value === "object" && value !== null ? { ...value } : {};
const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const template =
  (mime: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Rich => {
    const written = String.raw({ raw: strings }, ...values);
    return new Rich({ [mime]: written, "text/plain": written });
  };

function image(pathOrBytes: string | Uint8Array): Rich {
  const bytes = typeof pathOrBytes === "string" ? readFileSync(pathOrBytes) : pathOrBytes;
  const mime = sniffImage(bytes);
  if (mime === undefined) {
    const got = typeof pathOrBytes === "string" ? pathOrBytes : `${bytes.length} other bytes`;
    throw new TypeError(`Cannot show an image: it must be PNG, JPEG, GIF or WebP, got ${got}`);
  }
  return new Rich({ [mime]: base64(bytes) });
}

async function format(obj: unknown): Promise<MimeBundle> {
  const { formatValue } = await import("../../display/format.js");
  return (await formatValue(obj)) ?? {};
}

async function display(to: KernelHost, obj: unknown, options: DisplayOptions): Promise<void> {
  const { raw, update, display_id: id } = options;
  const bundle = raw && !isDisplayable(obj) ? normalizeBundle(obj) : await format(obj);
  to.display(bundle, { id, update });
}

/** What each message of the protocol is on this kernel's host. */
const messages: Record<string, (to: KernelHost, content: Content, sent: CommOptions) => void> = {
  display_data: (to, content) => show(to, content, false),
  update_display_data: (to, content) => show(to, content, true),
  clear_output: (to, content) => to.clearOutput(content["wait"] === true),
  stream: (to, content) =>
    to.stream(content["name"] === "stderr" ? "stderr" : "stdout", text(content["text"]) ?? ""),
  comm_open: (to, content, sent) => {
    const id = text(content["comm_id"]);
    to.comms.open(text(content["target_name"]) ?? "", record(content["data"]), { ...sent, id });
  },
  comm_msg: (to, content, sent) => commOf(to, content).send(record(content["data"]), sent),
  comm_close: (to, content, sent) => commOf(to, content).close(record(content["data"]), sent),
};

function show(to: KernelHost, content: Content, update: boolean): void {
  const id = text(record(content["transient"])["display_id"]);
  const metadata = record(content["metadata"]);
  to.display(normalizeBundle(content["data"]), { id, update, metadata });
}

function commOf(to: KernelHost, content: Content): Comm {
  const id = text(content["comm_id"]) ?? "";
  const comm = to.comms.all.get(id);
  if (comm === undefined) {
    throw new RangeError(`Cannot broadcast: comm_id must be that of an open comm, got '${id}'`);
  }
  return comm;
}

function broadcast(to: KernelHost, msgType: string, content: Content, sent: CommOptions): void {
  const send = Object.hasOwn(messages, msgType) ? messages[msgType] : undefined;
  if (send === undefined) {
    const known = Object.keys(messages).join(", ");
    throw new TypeError(`Cannot broadcast: msgType must be one of ${known}, got '${msgType}'`);
  }
  send(to, record(content), sent);
}

/** What cells find under `Deno`. */
interface DenoNames {
  readonly jupyter: Readonly<Record<string, unknown>>;
}

/** The same, showing things on `host`. */
function denoNames(host: KernelHost): DenoNames {
  const jupyter = Object.freeze({
    $display: displaySymbol,
    display: (obj: unknown, options: DisplayOptions = {}) => display(host, obj, options),
    format,
    md: template("text/markdown"),
    html: template("text/html"),
    svg: template("image/svg+xml"),
    image,
    broadcast: (msgType: string, content: Content, extra: CommOptions = {}) =>
      new Promise<void>((sent) => sent(broadcast(host, msgType, content, extra))),
  });
  return Object.freeze({ jupyter });
}

// The variables that cells share, on the thread where cells run.

/** Counts the cells that have ended: a name is noted once for each that assigns to it. */
interface Turn {
  count: number;
  note(name: string): void;
}

/** Sees what scripts declare with `const`, `let` and `class`: their names are no properties of `globalThis`. */
const ofScripts = globalThis.eval as (text: string) => unknown;

/** A name of the session. Cells that use it hold this object; redeclaring the name changes it. */
class Ref {
  #get: () => unknown;
  #set: ((value: unknown) => void) | undefined;
  /** Whether a cell has declared it. */
  declared = false;
  readonly #turn: Turn;
  #assigned = -1;

  constructor(
    readonly name: string,
    turn: Turn,
  ) {
    this.#turn = turn;
    this.#get = () => {
      if (name in globalThis) return (globalThis as Record<string, unknown>)[name];
      return ofScripts(name);
    };
    this.#set = (value) => {
      if (name in globalThis) (globalThis as Record<string, unknown>)[name] = value;
      else
        (ofScripts(`"use strict"; (value) => { ${name} = value; }`) as (v: unknown) => void)(value);
    };
  }

  get v(): unknown {
    return this.#get();
  }

  /** For `typeof`, which does not mind when there is nothing of this name. */
  get type(): unknown {
    if (this.declared || this.name in globalThis) return this.#get();
    return ofScripts(`typeof ${this.name}`) === "undefined" ? undefined : this.#get();
  }

  /** In the place of a variable of the same name that has no value yet. */
  get unset(): unknown {
    throw new ReferenceError(`Cannot access '${this.name}' before initialization`);
  }

  set unset(_: unknown) {
    void this.unset;
  }

  set v(value: unknown) {
    if (this.#set === undefined) {
      throw new TypeError(`Cannot assign to ${this.name}: it was declared const or imported`);
    }
    this.#set(value);
    if (this.#assigned === this.#turn.count) return;
    this.#assigned = this.#turn.count;
    this.#turn.note(this.name);
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
class Names {
  /** For programs: each name a property, live. */
  readonly variables = dictionary<unknown>();
  // Without methods of maps and arrays, which a cell may have replaced: cells themselves come here.
  readonly #refs = dictionary<Ref>();
  readonly #defined = dictionary<Record<string, true>>();
  #assigned = dictionary<true>();
  readonly #turn: Turn = { count: 0, note: (name) => (this.#assigned[name] = true) };

  ref(name: string): Ref {
    return (this.#refs[name] ??= new Ref(name, this.#turn));
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

  /** The names a cell has defined and assigned so far; asking ends the account. */
  take(cell: string): MadeNames {
    const made = {
      defined: Object.keys(this.#defined[cell] ?? {}),
      assigned: Object.keys(this.#assigned),
    };
    deleteProperty(this.#defined, cell);
    this.#assigned = dictionary();
    this.#turn.count++;
    return made;
  }
}

// What compiled cells are given, on the thread where they run.

/** What the compiled code of a cell calls. */
interface RunningCell {
  tick(): void;
  ref(name: string): Ref;
  /** What Node gives a CommonJS module under a name. */
  given(name: "require" | "__dirname" | "__filename" | "Deno"): { readonly v: unknown };
  module(): { v: RunningCell["import"]; meta: ImportMeta };
  define(name: string, get: () => unknown, set?: (value: unknown) => void): void;
  import(specifier: string, options?: { with?: Record<string, string> }): Promise<Namespace>;
  /** Tells how long the cell took. */
  took(milliseconds: number): void;
}

export interface SessionScope extends CellScope {
  /** Called first by every compiled cell. */
  enter(id: string, path: string): RunningCell;
  print(text: string): void;
  show(bundle: MimeBundle): void;
  bash(script: string): Promise<void>;
}

/** Makes the scope of a session. `load` asks the compiler where an import leads. */
export function createCellScope(
  host: KernelHost,
  load: (specifier: string, importer: string) => Promise<LoadedModule>,
): SessionScope {
  const names = new Names();
  const flag = host.interruptFlag;
  const tick = (): void => {
    if (flag[0] !== 0) host.checkInterrupt();
  };
  const modules = new Modules(load, tick);
  const Deno = denoNames(host);
  setStageRegister(async (stage) => {
    await load(stageSpecifier, JSON.stringify(stage));
  });
  return {
    variables: names.variables,
    maps: modules.maps,
    tick,
    import: (specifier, attributes) =>
      modules.import(specifier, `${currentFolder()}/cell.ts`, attributes),
    declare: (name, value) => {
      names.define(
        "debugger",
        name,
        () => value,
        (next) => (value = next),
      );
      names.take("debugger");
    },
    made: (id) => names.take(id),
    print: (text) => host.stream("stdout", text),
    show: (bundle) => host.display(bundle),
    bash: (script) => runBash(host, script),
    enter: (id, path) => {
      const cell = host.cell();
      let over = false;
      cell?.signal.addEventListener("abort", () => (over = true), { once: true });
      const importing: RunningCell["import"] = (specifier, options) =>
        modules.import(specifier, path, attributesOf(options));
      return {
        tick: () => {
          if (flag[0] !== 0) host.checkInterrupt();
          // An interrupted cell has answered already; a loop of it that an await brings back stops
          // here. What it defined goes on working when later cells call it.
          if (over && host.cell() === cell) throw cell?.signal.reason;
        },
        ref: (name) => names.ref(name),
        define: (name, get, set) => names.define(id, name, get, set),
        import: importing,
        given: (name) => (name === "Deno" ? { v: Deno } : givenTo(path, name)),
        module: () => ({ v: importing, meta: metaOf(path) }),
        took: (milliseconds) => host.stream("stdout", `Wall time: ${duration(milliseconds)}\n`),
      };
    },
  };
}

function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${(milliseconds * 1000).toFixed(0)} µs`;
  if (milliseconds < 1000) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${((milliseconds / 1000) % 60).toFixed(0)} s`;
}
