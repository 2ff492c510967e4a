import { later } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import type { LiveMore } from "../../base/show/show-as.js";
import { type ViewComm, viewHost } from "../kernel.js";
import type { StatusReply, StatusRequest, WorkStatus } from "./payload.js";

/** What the page of work that goes on asks the kernel under. */
const target = "arpo-lab.run";

/** Pages show no more lines in a second. */
const leastPause = 200;

const going = new Map<string, LiveStatus>();

/** The line of progress of work that goes on, and whether somebody has pressed its Stop button. */
export class LiveStatus {
  readonly #key = randomUUID();
  #line = "starting";
  #more: LiveMore = {};
  #stopping = false;
  #page: ViewComm | undefined;
  #next = 0;
  /** Whether a line is to be sent once the pause is over. */
  #waits = false;

  constructor(
    /** What the Stop button ends it after. */
    readonly after: string,
    readonly stopped: () => void = () => undefined,
  ) {
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

  /** What the page carries of it. */
  get status(): WorkStatus {
    return { line: this.#line, ...this.#more, after: this.after, key: this.#key, target };
  }

  /** Tells the page that is there now; false where none listens. */
  tell(line: string, more: LiveMore = {}): boolean {
    this.#line = line;
    this.#more = more;
    const wait = this.#next - performance.now();
    if (this.#page && !this.#waits) {
      this.#waits = wait > 0;
      if (this.#waits) later(() => this.#send(), wait);
      else this.#send();
    }
    return this.#page !== undefined;
  }

  hear(page: ViewComm, stop: boolean): void {
    // A page that replaced another one has a line of its own: the newest counts.
    this.#page = page;
    if (stop && !this.#stopping) {
      this.#stopping = true;
      this.stopped();
    }
    this.#send();
  }

  end(): void {
    going.delete(this.#key);
    this.#page = undefined;
  }

  #send(): void {
    this.#waits = false;
    this.#next = performance.now() + leastPause;
    const reply: StatusReply = { line: this.#line, ...this.#more, stopping: this.#stopping };
    try {
      this.#page?.send({ ...reply });
    } catch {
      // The page has been closed: nobody is told any more.
      this.#page = undefined;
    }
  }
}
