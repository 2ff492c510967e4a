import { Widget } from "@lumino/widgets";
import type { ListedValue } from "./line.js";

/** What the toolkit makes comes first, what was only imported last. */
const order = [
  "At this line",
  "Policies",
  "Trees",
  "Batches",
  "Runs",
  "Tensors",
  "Variables",
  "Functions",
];
const rank = (group: string): number => (order.indexOf(group) + order.length) % order.length;

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** Lists a session's values by group. */
export class ValuesPanel extends Widget {
  readonly #body = element("div", "arpo-Values-body");
  readonly #closed = new Set(["Functions"]);
  readonly #show: (name: string) => void;
  #shown = "";
  /** Called when it comes into view. */
  onVisible: () => void = () => undefined;

  constructor(show: (name: string) => void) {
    super();
    this.#show = show;
    this.id = "arpo-lab-values";
    this.addClass("arpo-Values");
    this.title.caption = "Values of the session";
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "Values of the session");
    this.node.append(element("h2", "arpo-Values-title", "Values"), this.#body);
    this.say("Open a notebook: what its cells make is listed here.");
  }

  protected override onAfterShow(): void {
    this.onVisible();
  }

  /** Says why there is nothing to list. */
  say(text: string): void {
    this.#replace(text, [element("p", "arpo-Values-empty", text)]);
  }

  list(values: ListedValue[]): void {
    if (values.length === 0) {
      this.say("Nothing yet. Run a cell that declares something, such as const answer = 42.");
      return;
    }
    const groups = new Map<string, ListedValue[]>();
    for (const value of values) {
      const group = groups.get(value.group);
      if (group === undefined) groups.set(value.group, [value]);
      else group.push(value);
    }
    const sorted = [...groups].sort(([a], [b]) => rank(a) - rank(b));
    this.#replace(
      JSON.stringify(values),
      sorted.map(([group, members]) => this.#group(group, members)),
    );
  }

  /** Leaves what is there alone where nothing has changed, and the focus where it was. */
  #replace(key: string, children: HTMLElement[]): void {
    if (key === this.#shown) return;
    this.#shown = key;
    const focused = document.activeElement;
    const name = focused instanceof HTMLElement ? focused.dataset["name"] : undefined;
    const had = this.#body.contains(focused);
    this.#body.replaceChildren(...children);
    if (!had || name === undefined) return;
    this.#body.querySelector<HTMLElement>(`[data-name="${CSS.escape(name)}"]`)?.focus();
  }

  #group(group: string, values: ListedValue[]): HTMLElement {
    const list = element("ul", "arpo-Values-list", ...values.map((value) => this.#item(value)));
    const summary = element("summary", "arpo-Values-group", `${group} (${values.length})`);
    summary.dataset["name"] = `group ${group}`;
    const details = element("details", "", summary, list);
    details.open = !this.#closed.has(group);
    details.addEventListener("toggle", () => {
      if (details.open) this.#closed.delete(group);
      else this.#closed.add(group);
    });
    return details;
  }

  #item({ name, kind, text }: ListedValue): HTMLElement {
    const button = element(
      "button",
      "arpo-Values-item",
      element("span", "arpo-Values-name", name),
      " ",
      element("span", "arpo-Values-kind", kind),
      " ",
      element("span", "arpo-Values-text", text),
    );
    button.type = "button";
    button.title = `Show ${name}`;
    button.dataset["name"] = name;
    button.addEventListener("click", () => this.#show(name));
    return element("li", "", button);
  }
}
