import { Dialog } from "@jupyterlab/apputils";
import { Widget } from "@lumino/widgets";

/** What an agent asks for, as the server says it. */
export interface Act {
  id: string;
  kind: "run" | "interrupt";
  notebook: string;
  /** The run of the agent's program: allowances are for this one. */
  session: string;
  /** What the agent's program calls itself. */
  agent: string;
  code: string;
}

export type Answer = "refuse" | "once" | "session";

/** A key or a click that was meant for what was there before comes within this, in milliseconds. */
const settling = 500;

const labels: Record<Answer, string> = {
  refuse: "Refuse",
  session: "Allow for this session",
  once: "Allow once",
};

function element(tag: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function bodyOf({ kind, notebook, agent, code }: Act): Widget {
  const body = new Widget({ node: element("div", "arpo-Act") });
  const asks = element("p", "arpo-Act-asks");
  asks.id = "arpo-act-asks";
  const who = element("strong", "arpo-Act-agent", agent);
  asks.append("A program that calls itself ", who);
  if (kind === "run") {
    const lines = code.split("\n").length;
    asks.append(" asks to add this cell to ", element("strong", "", notebook), " and run it.");
    const head = element(
      "p",
      "arpo-Act-head",
      `The whole cell, ${lines} ${lines === 1 ? "line" : "lines"}:`,
    );
    const text = element("pre", "arpo-Act-code", code);
    text.tabIndex = 0;
    text.setAttribute("role", "region");
    text.setAttribute("aria-label", "The cell's code");
    body.node.append(asks, head, text);
  } else {
    asks.append(" asks to interrupt the kernel of ", element("strong", "", notebook), ".");
    body.node.append(asks);
  }
  const may =
    kind === "run"
      ? "A cell can do all that you can: read and write files, and use the network."
      : "What runs there stops; its values stay.";
  const how = element("p", "arpo-Act-how");
  how.id = "arpo-act-how";
  how.textContent = `${may} Allowed for this session, this program is not asked about again in this notebook until it ends or this page is loaded again. Without an answer it is refused after two minutes.`;
  body.node.append(how);
  return body;
}

/** The question, with the refusal in front: it is what keys do that were meant for something else, and Escape. */
export class ActCard extends Dialog<unknown> {
  #shown = Infinity;

  constructor(act: Act) {
    super({
      title: act.kind === "run" ? "Run a cell for an agent?" : "Interrupt for an agent?",
      body: bodyOf(act),
      buttons: [
        Dialog.cancelButton({ label: labels.refuse }),
        Dialog.okButton({ label: labels.session, className: "arpo-Act-session" }),
        Dialog.okButton({ label: labels.once, className: "arpo-Act-once" }),
      ],
      defaultButton: 0,
    });
    this.addClass("arpo-Act-dialog");
    const title = this.node.querySelector(".jp-Dialog-header");
    if (title !== null) title.id = "arpo-act-title";
    this.node.setAttribute("role", "alertdialog");
    this.node.setAttribute("aria-labelledby", "arpo-act-title");
    this.node.setAttribute("aria-describedby", "arpo-act-asks arpo-act-how");
    void this.ready.then(() => (this.#shown = performance.now()));
  }

  override resolve(index?: number): void {
    if (performance.now() - this.#shown >= settling) super.resolve(index);
  }

  /** What the person answers; undefined where the question was withdrawn. */
  async ask(): Promise<Answer | undefined> {
    try {
      const { button } = await this.launch();
      if (button.label === labels.once) return "once";
      return button.label === labels.session ? "session" : "refuse";
    } catch {
      return undefined; // another page answered, or time ran out
    }
  }
}
