/** A call of a model: what was asked, message by message, and what came back. */
export interface LoggedCall {
  asked: readonly unknown[];
  said: readonly unknown[];
}

/** A call that none goes on from. */
export interface WholeChat<T> {
  call: T;
  /** How many messages the first call of its chat was asked. */
  begun: number;
}

/** Characters of messages that are remembered: then the chats so far are taken for whole. */
const MOST_CHARACTERS = 100_000_000;

/** Each call repeats its whole chat: one that a later call goes on from is no trajectory of its own. */
export class WholeChats<T extends LoggedCall> {
  readonly #textOf: (message: unknown) => string;
  /** Places in the tree of all messages, by the place before and the message. */
  readonly #places = new Map<string, number>();
  readonly #passed = new Set<number>();
  readonly #begun = new Map<number, number>();
  readonly #open = new Map<number, WholeChat<T>[]>();
  #characters = 0;

  /** `textOf`: what is compared of a message. */
  constructor(textOf: (message: unknown) => string) {
    this.#textOf = textOf;
  }

  /** Takes a call in; chats that are whole, where too much would be remembered. Calls of other groups go on from no call of one. */
  add(group: string, call: T): WholeChat<T>[] {
    const whole = this.#characters > MOST_CHARACTERS ? this.end() : [];
    let place = this.#after(0, group);
    let begun = call.asked.length;
    for (const message of call.asked) {
      place = this.#after(place, this.#textOf(message));
      this.#passed.add(place);
      this.#open.delete(place);
      begun = Math.min(begun, this.#begun.get(place) ?? begun);
    }
    for (const message of call.said) place = this.#after(place, this.#textOf(message));
    this.#begun.set(place, begun);
    if (!this.#passed.has(place)) {
      this.#open.set(place, [...(this.#open.get(place) ?? []), { call, begun }]);
    }
    return whole;
  }

  /** All that are left. */
  end(): WholeChat<T>[] {
    const whole = [...this.#open.values()].flat();
    for (const known of [this.#places, this.#passed, this.#begun, this.#open]) known.clear();
    this.#characters = 0;
    return whole;
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
