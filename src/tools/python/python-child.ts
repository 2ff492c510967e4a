import type { ChildReady, ChildReply, ChildRequest } from "./protocol.js";

/** A worker as it is spoken to, whatever holds it: a process, or a thread of a frame. */
interface Held {
  readonly pid?: number;
  send(request: ChildRequest): void;
  /** Whether there is something to wait for: only then it keeps this program alive. */
  hold(busy: boolean): void;
  /** Ends it, with everything that it may have started. */
  kill(): void;
}

/**
 * Starts a worker: `heard` takes its messages, `ended` hears once that there will be no more, and whether somebody
 * else killed it.
 */
export type Hold = (
  heard: (message: ChildReady | ChildReply) => void,
  ended: (why: string, isStranger?: boolean) => void,
) => Held;

/** The worker ended while it had work, or would not start. */
export class WorkerDied extends Error {
  override name = "WorkerDied";
  constructor(
    message: string,
    /** Neither the code nor this program ended it: somebody else did, such as a system that ran out of memory. */
    readonly isStranger = false,
  ) {
    super(message);
  }
}

interface Pending {
  resolve(message: ChildReady | ChildReply): void;
  reject(error: Error): void;
}

/** Nobody waits. */
const none: Pending = {
  resolve: () => undefined,
  reject: () => undefined,
};

/** One worker that answers one request at a time. Internal to the Python tools. */
export class PythonChild {
  readonly ready: Promise<void>;
  readonly #held: Held;
  readonly #exited: Promise<void>;
  #pending: Pending = none;
  #alive = true;
  /** How it ended. */
  #end = new WorkerDied("the worker has ended");
  #id = 0;

  constructor(start: Hold) {
    let exited: () => void;
    this.#exited = new Promise((resolve) => (exited = resolve));
    const ready = this.#next();
    this.#held = start(
      (message) => this.#settle().resolve(message),
      (why, isStranger) => {
        this.#alive = false;
        this.#end = new WorkerDied(`the worker ended: ${why}`, isStranger);
        this.#settle().reject(this.#end);
        exited();
      },
    );
    this.ready = ready.then((message) => {
      if ("fatal" in message) throw new WorkerDied(`the interpreter broke: ${message.fatal}`);
    });
    this.ready.catch(() => undefined); // The pool awaits it when it needs this worker.
    this.#held.hold(true);
  }

  get alive(): boolean {
    return this.#alive;
  }

  get pid(): number | undefined {
    return this.#held.pid;
  }

  /** Sends a request; rejects with `WorkerDied` when the worker ends first. */
  async ask(request: Omit<ChildRequest, "id">): Promise<ChildReply> {
    await this.ready;
    if (!this.#alive) throw this.#end;
    this.#held.hold(true);
    const id = ++this.#id;
    const answered = this.#next();
    this.#held.send({ id, ...request });
    const reply = (await answered) as ChildReply;
    if (reply.fatal !== undefined) {
      throw new WorkerDied(`the interpreter broke: ${reply.fatal}`, reply.isIdle);
    }
    if (reply.id !== id) {
      this.kill();
      throw new WorkerDied("the worker answered something else than it was asked");
    }
    return reply;
  }

  kill(): void {
    this.#alive = false;
    this.#held.kill();
  }

  async killed(): Promise<void> {
    this.#held.hold(true);
    this.kill();
    await this.#exited;
  }

  #next(): Promise<ChildReady | ChildReply> {
    return new Promise((resolve, reject) => (this.#pending = { resolve, reject }));
  }

  /** Who waits for the worker; from here on nobody does. */
  #settle(): Pending {
    const pending = this.#pending;
    this.#pending = none;
    if (this.#alive) this.#held?.hold(false);
    return pending;
  }
}
