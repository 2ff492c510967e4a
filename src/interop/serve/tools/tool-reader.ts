import type { ParsedTools, ToolFormat } from "./tool-format.js";

/** So much white space before a call, and no more. */
const mostBlanks = 10_000;

/** Parts a model's text into what is said and what is called, while it is being written. */
export class ToolReader {
  readonly #format: ToolFormat;
  /** What was not given out: all of it once a call may have begun. */
  #text = "";
  /** What came behind the beginning of a call; joined at the end, so that no text is copied for each piece. */
  readonly #held: string[] = [];
  #holds = false;
  /** A message that is no call is passed on as it comes. */
  #isOpen = false;

  readonly #forced: string | undefined;
  readonly #beginnings: readonly string[];

  /**
   * `prefix`: what a forced call began with; it is part of the call. `forced`: the function that is
   * called whatever the model makes of it. `beginnings`: the text begins with one of these, the first
   * words of a call.
   */
  constructor(
    format: ToolFormat,
    prefix = "",
    forced?: string,
    beginnings: readonly string[] = [],
  ) {
    this.#format = format;
    this.#text = prefix;
    this.#forced = forced;
    this.#beginnings = beginnings;
  }

  /** Takes more text and gives what is said for certain. */
  push(text: string): string {
    if (this.#holds) {
      this.#held.push(text);
      return "";
    }
    if (this.#isOpen) return text;
    this.#text += text;
    const end = this.#certain();
    const said = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return said;
  }

  /** What is left to say, and the calls. */
  end(): ParsedTools {
    const rest = this.#text + this.#held.join("");
    this.#text = "";
    this.#held.length = 0;
    const parsed = this.#format.parse(rest);
    const begun = this.#beginnings.length > 0 ? this.#format.begun(rest) : undefined;
    const forced = this.#forced ?? begun;
    if (forced === undefined) return parsed;
    // A function that the client names is the one that is called, whatever follows it.
    const calls = parsed.calls.filter(({ name }) => !this.#forced || name === forced);
    if (calls.length > 0) return { ...parsed, calls };
    const args = this.#format.unfinished(rest, forced);
    return { content: "", calls: [{ name: forced, arguments: args }] };
  }

  /** How much of what was not given out is no part of a call. */
  #certain(): number {
    const { markers, message } = this.#format;
    const text = this.#text;
    if (message !== undefined) {
      const first = text.trimStart()[0];
      this.#holds = first === message;
      // White space alone is kept until it is known what follows; of very much no call can begin.
      this.#isOpen = (first !== undefined && first !== message) || text.length > mostBlanks;
      return this.#isOpen ? text.length : 0;
    }
    let certain = text.length;
    for (const marker of markers) {
      const at = text.indexOf(marker);
      if (at >= 0) {
        this.#holds = true;
        certain = Math.min(certain, at);
      }
      for (let n = marker.length - 1; n > 0; n--) {
        if (text.endsWith(marker.slice(0, n))) certain = Math.min(certain, text.length - n);
      }
    }
    return certain;
  }
}
