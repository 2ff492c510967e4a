import type { ParsedTools } from "./tool-call.js";
import type { ToolFormat } from "./tool-format.js";

/** Parts a model's text into what is said and what is called, while it is being written. */
export class ToolReader {
  readonly #format: ToolFormat;
  #text: string;
  #given = 0;

  readonly #forced: string | undefined;

  /**
   * `prefix`: what a forced call began with; it is part of the call. `forced`: the function that is
   * called whatever the model makes of it.
   */
  constructor(format: ToolFormat, prefix = "", forced?: string) {
    this.#format = format;
    this.#text = prefix;
    this.#forced = forced;
  }

  /** Takes more text and gives what is said for certain. */
  push(text: string): string {
    this.#text += text;
    const end = Math.max(this.#given, this.#certain());
    const said = this.#text.slice(this.#given, end);
    this.#given = end;
    return said;
  }

  /** What is left to say, and the calls. */
  end(): ParsedTools {
    const rest = this.#text.slice(this.#given);
    this.#given = this.#text.length;
    const parsed = this.#format.parse(rest);
    const forced = this.#forced;
    if (forced === undefined || parsed.calls.length > 0) return parsed;
    const args = this.#format.unfinished(rest, forced);
    return { content: "", calls: [{ name: forced, arguments: args }] };
  }

  #certain(): number {
    const { markers, wholeMessage } = this.#format;
    const text = this.#text;
    if (wholeMessage) return /^\s*($|\{)/.test(text) ? 0 : text.length;
    let certain = text.length;
    for (const marker of markers) {
      const at = text.indexOf(marker, this.#given);
      if (at >= 0) certain = Math.min(certain, at);
      for (let n = marker.length - 1; n > 0; n--) {
        if (text.endsWith(marker.slice(0, n))) certain = Math.min(certain, text.length - n);
      }
    }
    return certain;
  }
}
