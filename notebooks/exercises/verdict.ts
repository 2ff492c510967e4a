import { escapeHtml } from "../../common/picture/escape.js";

/** Where an answer stands: not given, right, or wrong. */
export type VerdictState = "not yet" | "right" | "wrong";

const looks: Record<VerdictState, { sign: string; colour: string }> = {
  "not yet": { sign: "○", colour: "#8a8f98" },
  right: { sign: "✓", colour: "#2a9d5c" },
  wrong: { sign: "✗", colour: "#d9730d" },
};

/**
 * What became of an answer, in words; shows itself under the cell.
 */
export class Verdict {
  constructor(
    readonly state: VerdictState,
    readonly message: string,
  ) {}

  toString(): string {
    return `${this.state}: ${this.message}`;
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    const { sign, colour } = looks[this.state];
    // `code` between backticks is the only markup that messages have.
    const words = escapeHtml(this.message).replace(/`([^`]+)`/g, "<code>$1</code>");
    return {
      "text/plain": String(this),
      "text/html":
        `<div style="border-left:4px solid ${colour};padding:.35em .8em">` +
        `<b>${sign} ${this.state}</b>: ${words}</div>`,
    };
  }
}

/**
 * The answer is right, because of what the message says.
 */
export function right(because: string): Verdict {
  return new Verdict("right", because);
}

/**
 * The answer is wrong; the message says what is off.
 */
export function wrong(what: string): Verdict {
  return new Verdict("wrong", what);
}
