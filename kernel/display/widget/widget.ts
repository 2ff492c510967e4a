import { checkOptions } from "../../../common/options/check-options.js";
import { randomUUID } from "#platform/uuid";
import {
  type Comm,
  type CommMessage,
  type Comms,
  currentHost,
  type MimeBundle,
} from "../../host/host.js";
import { type Displayable, displaySymbol } from "../displayable.js";
import { inspectText } from "../inspect.js";

/** Where a buffer belongs in a state: keys and indices from its top. */
type BufferPath = (string | number)[];

/** A state without its binary parts, and those parts with their places. */
interface SplitState {
  state: Record<string, unknown>;
  paths: BufferPath[];
  buffers: Uint8Array[];
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Takes the binary parts out of a state, as the widget protocol sends them: beside it, with paths. */
export function splitBuffers(state: Record<string, unknown>): SplitState {
  const paths: BufferPath[] = [];
  const buffers: Uint8Array[] = [];
  const walk = (value: unknown, path: BufferPath): unknown => {
    const bytes = bytesOf(value);
    if (bytes !== undefined) {
      paths.push(path);
      buffers.push(bytes);
      return undefined;
    }
    // In a list the place must stay; in an object the key goes.
    if (Array.isArray(value)) return value.map((item, i) => walk(item, [...path, i]) ?? null);
    if (!isPlain(value)) return value;
    const entries = Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  };
  return { state: walk(state, []) as Record<string, unknown>, paths, buffers };
}

/** Puts binary parts back where their paths say; a path that leads nowhere is an error. */
export function joinBuffers(
  state: Record<string, unknown>,
  paths: BufferPath[],
  buffers: Uint8Array[],
): Record<string, unknown> {
  paths.forEach((path, i) => {
    let place: unknown = state;
    for (const key of path.slice(0, -1)) {
      // Own properties only: a path from a page must not reach into prototypes.
      place =
        typeof place === "object" && place !== null && Object.hasOwn(place, key)
          ? (place as Record<string, unknown>)[key]
          : undefined;
    }
    const last = path.at(-1);
    if (typeof place !== "object" || place === null || last === undefined || last === "__proto__") {
      throw new RangeError(
        `Cannot place buffer: its path must lead into the state, got ${JSON.stringify(path)}`,
      );
    }
    (place as Record<string | number, unknown>)[last] = buffers[i];
  });
  return state;
}

/** A widget as a page gets it that asks for all. */
interface Wired {
  wireState(): SplitState;
}

interface Registry {
  widgets: Map<string, Wired>;
}

const registries = new WeakMap<Comms, Registry>();

/**
 * The widgets of a session. A page that was reloaded asks for all of them at once over a comm of the
 * target `jupyter.widget.control`.
 */
function widgetsOf(comms: Comms): Registry["widgets"] {
  const known = registries.get(comms);
  if (known !== undefined) return known.widgets;
  const widgets: Registry["widgets"] = new Map();
  registries.set(comms, { widgets });
  comms.register("jupyter.widget.control", (comm) => {
    comm.onMessage = ({ data }) => {
      if (data["method"] !== "request_states") return;
      const states: Record<string, unknown> = {};
      const paths: (string | number)[][] = [];
      const buffers: Uint8Array[] = [];
      for (const [id, widget] of widgets) {
        const split = widget.wireState();
        const { _model_module, _model_name, _model_module_version } = split.state;
        states[id] = {
          model_name: _model_name,
          model_module: _model_module,
          model_module_version: _model_module_version,
          state: split.state,
        };
        paths.push(...split.paths.map((path) => [id, "state", ...path]));
        buffers.push(...split.buffers);
      }
      comm.send({ method: "update_states", states, buffer_paths: paths }, { buffers });
    };
  });
  return widgets;
}

/** The version of the widget protocol that this speaks. */
const protocol = "2.1.0";
/** Any: a page has one version of anywidget, and what is used of it here has not changed since 0.9. */
const anywidget = "*";

/** What a widget is made of. */
export interface WidgetOptions<S extends Record<string, unknown>> {
  /** An anywidget module: `export default { render({ model, el }) { … } }`. */
  esm: string;
  /** Styles for what it draws. Default: none. */
  css?: string;
  /**
   * What the page and the session share; typed arrays and buffers are sent as bytes. Default: empty.
   */
  state?: S;
}

type ChangeListener<S> = (changed: Partial<S>) => void | Promise<void>;
type MessageListener = (content: unknown, buffers: Uint8Array[]) => void | Promise<void>;

/**
 * A model that lives here and in every page that shows it; made by `widget`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { widget } from "arpo-lab/kernel";
 *
 * const counter = widget({
 *   esm: "export default { render({ model, el }) { el.textContent = model.get('count'); } }",
 *   state: { count: 0 },
 * });
 * counter.set({ count: 3 });
 * assert.equal(counter.get("count"), 3);
 * ```
 */
export class Widget<S extends Record<string, unknown>> implements Displayable {
  readonly id = randomUUID();
  readonly #own: Record<string, unknown>;
  readonly #state: Record<string, unknown>;
  readonly #onChange = new Set<ChangeListener<S>>();
  readonly #onMessage = new Set<MessageListener>();
  readonly #comm: Comm | undefined;

  constructor({ esm, css, state }: WidgetOptions<S>) {
    this.#own = {
      _model_module: "anywidget",
      _model_name: "AnyModel",
      _model_module_version: anywidget,
      _view_module: "anywidget",
      _view_name: "AnyView",
      _view_module_version: anywidget,
      _view_count: null,
      _dom_classes: [],
      _anywidget_id: `arpo-lab.${this.id}`,
      _esm: esm,
      _css: css ?? "",
      layout: null,
      tabbable: null,
      tooltip: null,
    };
    this.#state = { ...state };
    for (const key of Object.keys(this.#state)) {
      if (key in this.#own) {
        throw new RangeError(
          `Cannot make a widget: a state's name must not be one of the protocol's, got ${key}`,
        );
      }
    }
    const comms = currentHost()?.comms;
    if (comms === undefined) return;
    const { state: plain, paths, buffers } = this.wireState();
    const data = { state: plain, buffer_paths: paths };
    this.#comm = comms.open("jupyter.widget", data, {
      id: this.id,
      metadata: { version: protocol },
      buffers,
    });
    this.#comm.onMessage = (message) => this.#receive(message);
    const widgets = widgetsOf(comms);
    widgets.set(this.id, this as unknown as Widget<Record<string, unknown>>);
    this.#comm.onClose = () => void widgets.delete(this.id);
  }

  /**
   * A shared value, as last set on either side.
   * @param key the name of the value
   */
  get<K extends keyof S & string>(key: K): S[K] {
    return this.#state[key] as S[K];
  }

  /** All shared values. */
  get state(): Readonly<S> {
    return { ...this.#state } as S;
  }

  /**
   * Sets shared values; every page that shows the widget hears of it.
   * @param values the values to set, by name
   */
  set(values: Partial<S>): void {
    Object.assign(this.#state, values);
    this.#sendState("update", values);
  }

  /**
   * Sends the page a message that is no state: `model.on("msg:custom", …)` there.
   * @param content the message, as JSON
   * @param buffers bytes to send with it
   */
  send(content: unknown, buffers: Uint8Array[] = []): void {
    this.#comm?.send({ method: "custom", content }, { buffers });
  }

  /**
   * Calls back with what changed whenever a page changes shared values; returns what stops it.
   * @param listener called with the values that changed
   */
  onChange(listener: ChangeListener<S>): () => void {
    this.#onChange.add(listener);
    return () => void this.#onChange.delete(listener);
  }

  /**
   * Calls back for what the page sends with `model.send(content)`; returns what stops it.
   * @param listener called with the message and its buffers
   */
  onMessage(listener: MessageListener): () => void {
    this.#onMessage.add(listener);
    return () => void this.#onMessage.delete(listener);
  }

  /** Takes the widget off every page. */
  close(): void {
    const comms = currentHost()?.comms;
    if (comms !== undefined) widgetsOf(comms).delete(this.id);
    this.#comm?.close();
  }

  /** Everything a page needs to make the model, as it is sent. */
  wireState(): SplitState {
    return splitBuffers({ ...this.#own, ...this.#state });
  }

  [displaySymbol](): MimeBundle {
    const text = { "text/plain": `Widget ${inspectText(this.#state)}` };
    if (this.#comm === undefined) return text;
    const view = { version_major: 2, version_minor: 1, model_id: this.id };
    return { "application/vnd.jupyter.widget-view+json": view, ...text };
  }

  #sendState(method: "update" | "echo_update", values: Record<string, unknown>): void {
    const { state, paths, buffers } = splitBuffers(values);
    this.#comm?.send({ method, state, buffer_paths: paths }, { buffers });
  }

  async #receive({ data, buffers }: CommMessage): Promise<void> {
    switch (data["method"]) {
      case "update": {
        const sent = (data["state"] ?? {}) as Record<string, unknown>;
        const state = joinBuffers(sent, (data["buffer_paths"] ?? []) as BufferPath[], buffers);
        // The protocol's own fields (a view's count, styles) belong to the page.
        const changed = Object.fromEntries(
          Object.entries(state).filter(([key]) => !(key in this.#own)),
        );
        Object.assign(this.#state, changed);
        this.#sendState("echo_update", state);
        await Promise.all([...this.#onChange].map((listen) => listen(changed as Partial<S>)));
        return;
      }
      case "request_state":
        this.#sendState("update", { ...this.#own, ...this.#state });
        return;
      case "custom":
        await Promise.all([...this.#onMessage].map((listen) => listen(data["content"], buffers)));
    }
  }
}

/**
 * A widget from an anywidget module: it draws in the page, and its state is shared both ways.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { widget } from "arpo-lab/kernel";
 *
 * const counter = widget({
 *   esm: `export default {
 *     render({ model, el }) {
 *       const button = document.createElement("button");
 *       const draw = () => { button.textContent = "count " + model.get("count"); };
 *       button.onclick = () => { model.set("count", model.get("count") + 1); model.save_changes(); };
 *       model.on("change:count", draw);
 *       draw();
 *       el.append(button);
 *     },
 *   }`,
 *   state: { count: 0 },
 * });
 * counter.onChange(({ count }) => console.log(`the page says ${count}`));
 * counter.set({ count: 5 });
 * assert.equal(counter.get("count"), 5);
 * ```
 */
export function widget<S extends Record<string, unknown> = Record<string, unknown>>(
  options: WidgetOptions<S>,
): Widget<S> {
  checkOptions("make a widget", options, { esm: "text", css: "text?", state: "object?" });
  return new Widget(options);
}
