import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { ImportedRow } from "./imported-row.js";

/** A call of a model: what was asked, message by message, what came back, and what else is known of it. */
interface LoggedCall {
  asked: readonly ChatMessage[];
  said: readonly ChatMessage[];
  besides: Partial<ImportedRow>;
}

/** Characters of messages that are remembered: then the chats so far are taken for whole. */
const MOST_CHARACTERS = 100_000_000;

/**
 * Each call repeats its whole chat: one that a later call goes on from is no trajectory of its own. The model wrote what
 * calls say came back, and no other answer in a chat.
 */
export class WholeChats {
  /** Places in the tree of all messages, by the place before and the message. */
  readonly #places = new Map<string, number>();
  readonly #passed = new Set<number>();
  readonly #said = new Set<number>();
  /** Calls that none goes on from so far, by their last place. */
  readonly #open = new Map<number, { call: LoggedCall; asked: readonly number[] }[]>();
  #characters = 0;

  /** Takes a call in; chats that are whole, where too much would be remembered. Calls of other groups go on from no call of one. */
  add(group: string, call: LoggedCall): ImportedRow[] {
    const whole = this.#characters > MOST_CHARACTERS ? this.end() : [];
    let place = this.#after(0, group);
    const asked = call.asked.map((message) => {
      place = this.#after(place, JSON.stringify(message));
      this.#passed.add(place);
      this.#open.delete(place);
      return place;
    });
    for (const message of call.said) {
      place = this.#after(place, JSON.stringify(message));
      this.#said.add(place);
    }
    if (!this.#passed.has(place)) {
      this.#open.set(place, [...(this.#open.get(place) ?? []), { call, asked }]);
    }
    return whole;
  }

  /** All that are left. */
  end(): ImportedRow[] {
    const rows = [...this.#open.values()].flat().map(({ call, asked }): ImportedRow => {
      const begun = this.#begunOf(call, asked);
      return {
        prompt: begun === 0 ? "" : call.asked.slice(0, begun),
        ...{ parts: [], messages: [...call.asked.slice(begun), ...call.said] },
        ...call.besides,
      };
    });
    for (const known of [this.#places, this.#passed, this.#said, this.#open]) known.clear();
    this.#characters = 0;
    return rows;
  }

  /** How many messages were given: up to the last answer that no call gave, and up to the first one behind it. */
  #begunOf({ asked }: LoggedCall, places: readonly number[]): number {
    let begun = asked.length;
    for (let i = asked.length - 1; i >= 0; i--) {
      if (asked[i]!.role !== "assistant") continue;
      if (!this.#said.has(places[i]!)) break;
      begun = i;
    }
    return begun;
  }

  #after(place: number, text: string): number {
    const key = `${place} ${text}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#characters += key.length;
    this.#places.set(key, this.#places.size + 1);
    return this.#places.size;
  }
}
