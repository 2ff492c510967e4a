import { addOutputFinder } from "../outputs/outputs.js";
import { type ListedValue, ValuesLine } from "./line.js";
import { IStandingValues, type StandingValue, type StandingValues } from "./standing.js";
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette, MainAreaWidget } from "@jupyterlab/apputils";
import type { IMimeBundle } from "@jupyterlab/nbformat";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { OutputAreaModel, SimplifiedOutputArea } from "@jupyterlab/outputarea";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { listIcon } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";

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
class ValuesPanel extends Widget {
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

const command = "arpo-lab:show-values";

/** The debugger's line of a value as the panel has it. */
function listed({ name, value, isHere }: StandingValue): ListedValue {
  return { name, group: isHere ? "At this line" : "Variables", kind: "", text: value };
}

/** Keeps the panel in step with the kernel of the notebook in front. */
class Values implements IStandingValues {
  readonly panel: ValuesPanel;
  readonly #app: JupyterFrontEnd;
  readonly #lines = new WeakMap<Kernel.IKernelConnection, ValuesLine>();
  readonly #tabs = new Map<string, MainAreaWidget<SimplifiedOutputArea>>();
  /** The values where a notebook's cell stands: the kernel's thread cannot be asked then. */
  readonly #standing = new WeakMap<NotebookPanel, StandingValues>();
  #notebook: NotebookPanel | undefined;
  #asking = false;
  #again = false;

  constructor(app: JupyterFrontEnd) {
    this.#app = app;
    this.panel = new ValuesPanel((name) => void this.#show(name));
  }

  get #kernel(): Kernel.IKernelConnection | undefined {
    return this.#notebook?.sessionContext.session?.kernel ?? undefined;
  }

  look(notebook: NotebookPanel | null): void {
    this.#notebook = notebook ?? undefined;
    void this.refresh();
  }

  stand(notebook: NotebookPanel, values: StandingValues | undefined): void {
    if (values === undefined) this.#standing.delete(notebook);
    else this.#standing.set(notebook, values);
    // Between two lines the list stays as it is.
    if (notebook === this.#notebook) this.#list();
  }

  front(): void {
    this.#app.shell.activateById(this.panel.id);
  }

  /** Whether there is a list that belongs to a line. */
  #list(): boolean {
    const standing = this.#notebook && this.#standing.get(this.#notebook);
    if (standing !== undefined) this.panel.list(standing.list.map(listed));
    return standing !== undefined;
  }

  /** Asks for the list; asked again meanwhile, it is asked once more afterwards. */
  async refresh(): Promise<void> {
    if (!this.panel.isVisible || this.#list()) return;
    this.#again = this.#asking;
    if (this.#asking) return;
    this.#asking = true;
    try {
      do {
        this.#again = false;
        await this.#ask();
      } while (this.#again);
    } finally {
      this.#asking = false;
    }
  }

  async #ask(): Promise<void> {
    if (this.#notebook === undefined) {
      this.panel.say("Open a notebook: what its cells make is listed here.");
      return;
    }
    const kernel = this.#kernel;
    if (kernel === undefined) {
      this.panel.say("This notebook has no kernel yet.");
      return;
    }
    const line = this.#line(kernel);
    const changed = new Promise<undefined>((gone) => {
      const stop = (): void => gone(undefined);
      kernel.statusChanged.connect((_, status) => {
        if (["restarting", "autorestarting", "dead"].includes(status)) stop();
      });
      kernel.disposed.connect(stop);
    });
    const answer = await Promise.race([line.list(), changed]);
    if (answer === undefined || kernel !== this.#kernel || this.#list()) return;
    if ("values" in answer) this.panel.list(answer.values);
    else this.panel.say("This notebook's kernel does not say what values it has.");
  }

  #line(kernel: Kernel.IKernelConnection): ValuesLine {
    let line = this.#lines.get(kernel);
    if (line?.isOpen !== true) this.#lines.set(kernel, (line = new ValuesLine(kernel)));
    return line;
  }

  /** Shows a value beside its notebook, in the place where it was shown before. */
  async #show(name: string): Promise<void> {
    const [notebook, kernel] = [this.#notebook, this.#kernel];
    if (notebook === undefined || kernel === undefined) return;
    const key = `${notebook.id} ${name}`;
    let tab = this.#tabs.get(key);
    if (tab === undefined || tab.isDisposed) {
      const content = new SimplifiedOutputArea({
        model: new OutputAreaModel({ trusted: true }),
        rendermime: notebook.content.rendermime,
      });
      content.addClass("arpo-Value");
      tab = new MainAreaWidget({ content });
      tab.toolbar.hide();
      tab.id = `arpo-lab-value-${this.#tabs.size}`;
      tab.title.label = name;
      tab.title.caption = `The value ${name} of ${notebook.title.label}`;
      tab.title.icon = listIcon;
      const beside = [...this.#tabs.values()].find((other) => other.isVisible);
      this.#tabs.set(key, tab);
      const { node } = tab;
      const forget = addOutputFinder((element) =>
        node.contains(element) ? { kernel, area: content } : undefined,
      );
      this.#app.shell.add(tab, "main", {
        mode: beside === undefined ? "split-bottom" : "tab-after",
        ref: beside?.id ?? notebook.id,
        activate: false,
      });
      tab.disposed.connect(() => {
        this.#tabs.delete(key);
        forget();
      });
    }
    this.#app.shell.activateById(tab.id);
    const standing = this.#standing.get(notebook);
    if (standing === undefined) return await this.#line(kernel).show(name, tab.content);
    const data = (await standing.show(name)) as IMimeBundle;
    const { model } = tab.content;
    model.clear();
    model.add({ output_type: "display_data", data, metadata: {} });
  }
}

const isCellEnd = (message: KernelMessage.IMessage): boolean =>
  message.header.msg_type === "status" &&
  (message.content as { execution_state: string }).execution_state === "idle" &&
  (message.parent_header as { msg_type?: string }).msg_type === "execute_request";

/** A side panel with the values of the session in front, and a click to show each. */
export const values: JupyterFrontEndPlugin<IStandingValues> = {
  id: "arpo-lab:values",
  autoStart: true,
  provides: IStandingValues,
  requires: [INotebookTracker],
  optional: [ILabShell, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    shell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
  ) => {
    const session = new Values(app);
    const { panel } = session;
    panel.title.icon = listIcon;
    app.shell.add(panel, "right", { rank: 50, type: "Values" });
    restorer?.add(panel, "arpo-lab-values");
    panel.onVisible = () => void session.refresh();
    app.commands.addCommand(command, {
      label: "Show the Session's Values",
      execute: () => session.front(),
    });
    palette?.addItem({ command, category: "Notebook Operations" });
    const follow = (notebook: NotebookPanel): void => {
      const refresh = (): void => {
        if (tracker.currentWidget === notebook) void session.refresh();
      };
      notebook.sessionContext.iopubMessage.connect((_, message) => {
        if (isCellEnd(message)) refresh();
      });
      notebook.sessionContext.kernelChanged.connect(refresh);
      notebook.sessionContext.connectionStatusChanged.connect((_, status) => {
        if (status === "connected") refresh();
      });
      notebook.sessionContext.statusChanged.connect((_, status) => {
        if (status === "restarting" || status === "autorestarting") panel.list([]);
      });
    };
    tracker.widgetAdded.connect((_, notebook) => follow(notebook));
    tracker.currentChanged.connect((_, notebook) => session.look(notebook));
    void shell?.restored.then((layout) => {
      // The first time there is room for it.
      if (layout.fresh === true && window.innerWidth >= 1200) session.front();
    });
    return session;
  },
};
