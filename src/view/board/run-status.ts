import { randomUUID } from "#platform/uuid";
import { type ViewComm, viewHost } from "../kernel.js";
import type { RunStatus, StatusReply, StatusRequest } from "./payload.js";

/** What the page of a run asks the kernel under. */
const target = "arpo-lab.run";

/** Pages show no more lines in a second. */
const leastPause = 200;

const going = new Map<string, LiveStatus>();

/** The line of progress of a run that goes on, and whether somebody has pressed its Stop button. */
export class LiveStatus {
  readonly #key = randomUUID();
  #line = "starting";
  #stopping = false;
  #page: ViewComm | undefined;
  #next = 0;

  constructor() {
    going.set(this.#key, this);
    viewHost()?.comms?.register(target, (comm) => {
      comm.onMessage = ({ data }) => {
        const { run, stop } = data as unknown as StatusRequest;
        going.get(run)?.hear(comm, stop === true);
      };
    });
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** What the board carries of it. */
  get status(): RunStatus {
    return { line: this.#line, key: this.#key, target };
  }

  /** Tells the page that is there now; false where none listens. */
  tell(line: string): boolean {
    this.#line = line;
    const now = performance.now();
    if (this.#page && now >= this.#next) {
      this.#next = now + leastPause;
      this.#send();
    }
    return this.#page !== undefined;
  }

  hear(page: ViewComm, stop: boolean): void {
    // A board that replaced another one has a line of its own: the newest counts.
    this.#page = page;
    if (stop) this.#stopping = true;
    this.#send();
  }

  end(): void {
    going.delete(this.#key);
  }

  #send(): void {
    const reply: StatusReply = { line: this.#line, stopping: this.#stopping };
    try {
      this.#page?.send({ ...reply });
    } catch {
      // The page has been closed: nobody is told any more.
      this.#page = undefined;
    }
  }
}
