import { later } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import { type Json, textField } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Pages } from "../lab/pages.js";

/** What an agent may ask for: to add a cell and run it, or to interrupt a kernel. */
const kinds = ["run", "interrupt"] as const;
type ActKind = (typeof kinds)[number];

/** How far an act is. `lost`: the page that ran it did not say how it ended. */
type ActState = "waiting" | "running" | "done" | "refused" | "unanswered" | "lost";

interface Act {
  id: string;
  /** The same for the same question of the same agent. */
  key: string;
  kind: ActKind;
  notebook: string;
  state: ActState;
  result?: Json;
  timer: ReturnType<typeof setTimeout>;
  /** Calls that wait for another state. */
  waiting: Set<() => void>;
}

/** How long things may take, in milliseconds, and how much of them there may be. */
const usual = {
  /** A person has for an answer. */
  answer: 120_000,
  /** A call waits for another state: less than the minute that MCP's clients wait. */
  call: 40_000,
  /** A cell may run until it is given up; what it prints stays in the notebook. */
  run: 3_600_000,
  /** A result is kept for the call that asks for it. */
  keep: 600_000,
  /** Nothing is asked after `refusals` refusals in a row. */
  silence: 300_000,
  refusals: 3,
  acts: 4,
};
export type ActLimits = typeof usual;

const longestCode = 20_000;

/**
 * Characters that make a text look like another one, or hide it: controls, those that turn its direction, those of no
 * width, and tags.
 */
const unseen =
  /[^\P{Cc}\n\t]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/u;

/** A name that a program gives itself, fit to be shown. */
function nameOf(text: string | undefined): string {
  const plain = (text ?? "").replace(new RegExp(unseen, "gu"), "").replace(/\s+/g, " ").trim();
  return plain === "" ? "an agent without a name" : plain.slice(0, 60);
}

/**
 * What agents want done and a person must allow: each is asked in the lab's pages, and happens there. An agent hears what
 * became of it and can answer nothing itself.
 */
export class Acts {
  readonly #pages: Pages;
  readonly #limits: ActLimits;
  readonly #interrupt: (notebook: string) => Promise<void>;
  readonly #acts = new Map<string, Act>();
  #refusals = 0;
  #silentUntil = 0;

  /** `interrupt` interrupts the kernel of a notebook. */
  constructor(
    pages: Pages,
    interrupt: (notebook: string) => Promise<void>,
    limits: Partial<ActLimits> = {},
  ) {
    this.#pages = pages;
    this.#interrupt = interrupt;
    this.#limits = { ...usual, ...limits };
  }

  /**
   * Asks for an act, or waits further for one that was asked for with the same words. Answers with its state after at most
   * `call` milliseconds.
   */
  async ask(body: Json, notebook: string): Promise<Json> {
    const session = textField(body, "session") ?? "";
    const kind = kinds.find((one) => one === body["kind"]);
    if (kind === undefined || session.length < 16 || session.length > 100) {
      throw new ErrorResponse(
        400,
        `Cannot ask: kind must be one of ${kinds.join(", ")} and session 16 to 100 characters`,
      );
    }
    const code = kind === "run" ? this.#code(textField(body, "code")) : "";
    const key = JSON.stringify([session, kind, notebook, code]);
    let act = [...this.#acts.values()].find((one) => one.key === key);
    if (act === undefined) {
      const agent = nameOf(textField(body, "agent"));
      act = this.#begin({ kind, notebook, key }, { session, agent, code });
    }
    await this.#changed(act);
    const { state, result } = act;
    if (state !== "waiting" && state !== "running") this.#forget(act);
    return { state, ...result };
  }

  #code(code = ""): string {
    const text = code.replaceAll("\r\n", "\n");
    if (text.trim() === "" || text.length > longestCode) {
      throw new ErrorResponse(
        400,
        `Cannot run a cell: its code must have 1 to ${longestCode} characters, got ${text.length}`,
      );
    }
    const odd = unseen.exec(text)?.[0];
    if (odd === undefined) return text;
    const point = odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    throw new ErrorResponse(
      400,
      `Cannot run a cell: its code must have no character that cannot be seen, got U+${point}; write it as an escape`,
    );
  }

  #begin(
    { kind, notebook, key }: Pick<Act, "kind" | "notebook" | "key">,
    shown: { session: string; agent: string; code: string },
  ): Act {
    if (this.#pages.count === 0) {
      throw new ErrorResponse(
        409,
        "Cannot ask the person: no page of the lab is open; they must open the address that the lab's terminal shows",
      );
    }
    if (Date.now() < this.#silentUntil) {
      throw new ErrorResponse(
        429,
        `Cannot ask the person: they refused ${this.#limits.refusals} times in a row; nothing is asked for some minutes`,
      );
    }
    if (this.#acts.size >= this.#limits.acts) {
      const rule = `at most ${this.#limits.acts} questions may be open`;
      throw new ErrorResponse(429, `Cannot ask the person: ${rule}; wait for their answers`);
    }
    const id = randomUUID();
    const timer = later(() => this.#unanswered(act), this.#limits.answer);
    const act: Act = { id, key, kind, notebook, state: "waiting", timer, waiting: new Set() };
    this.#acts.set(id, act);
    this.#pages.tell({ schema_id: "arpo-lab/act", id, kind, notebook, ...shown });
    return act;
  }

  /** Waits until an act is over; what runs is waited for as well as what is not answered. */
  async #changed(act: Act): Promise<void> {
    if (act.state !== "waiting" && act.state !== "running") return;
    await new Promise<void>((done) => {
      const timer = later(() => end(), this.#limits.call);
      const end = (): void => {
        clearTimeout(timer);
        act.waiting.delete(end);
        done();
      };
      act.waiting.add(end);
    });
  }

  #set(act: Act, state: ActState, result?: Json): void {
    clearTimeout(act.timer);
    act.state = state;
    if (result !== undefined) act.result = result;
    if (state === "running") {
      act.timer = later(() => this.#set(act, "lost"), this.#limits.run);
      return;
    }
    // Nobody may come for it.
    act.timer = later(() => this.#forget(act), this.#limits.keep);
    for (const end of act.waiting) end();
  }

  #forget(act: Act): void {
    clearTimeout(act.timer);
    this.#acts.delete(act.id);
  }

  #over(id: string): void {
    this.#pages.tell({ schema_id: "arpo-lab/act-answered", id });
  }

  #unanswered(act: Act): void {
    this.#set(act, "unanswered");
    this.#over(act.id);
  }

  /** A page says what the person answered; the first that does so decides. */
  async answer(id: string, body: Json): Promise<void> {
    const act = this.#acts.get(id);
    if (act?.state !== "waiting") {
      throw new ErrorResponse(409, "Cannot answer: the question was answered, or waited too long");
    }
    if (body["allow"] !== true) {
      this.#refusals++;
      if (this.#refusals >= this.#limits.refusals) {
        this.#silentUntil = Date.now() + this.#limits.silence;
        this.#refusals = 0;
      }
      this.#set(act, "refused");
      this.#over(id);
      return;
    }
    this.#refusals = 0;
    this.#set(act, "running");
    this.#over(id);
    if (act.kind !== "interrupt") return;
    try {
      await this.#interrupt(act.notebook);
      this.#set(act, "done", { status: "ok" });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#set(act, "done", { status: "error", message });
    }
  }

  /** The page that runs a cell says what came of it. */
  finished(id: string, result: Json): void {
    const act = this.#acts.get(id);
    if (act?.state !== "running") throw new ErrorResponse(409, "Cannot finish: nothing runs");
    this.#set(act, "done", result);
  }

  /** Ends all timers. */
  stop(): void {
    for (const act of this.#acts.values()) {
      this.#set(act, "lost");
      this.#forget(act);
    }
  }
}
