import { randomUUID } from "#platform/uuid";
import type { Comm, CommMessage, CommOptions, Comms } from "../host/host.js";
import type { CommEvent, CommTraffic } from "../contract/bridge.js";

type Data = Record<string, unknown>;
type Send = (traffic: CommTraffic) => void;

class KernelComm implements Comm {
  onMessage?: (message: CommMessage) => void | Promise<void>;
  onClose?: (message: CommMessage) => void | Promise<void>;
  readonly #table: CommTable;

  constructor(
    table: CommTable,
    readonly id: string,
    readonly target: string,
  ) {
    this.#table = table;
  }

  send(data: Data, options?: CommOptions): void {
    this.#table.send("message", this, data, options);
  }

  close(data: Data = {}, options?: CommOptions): void {
    this.#table.send("close", this, data, options);
  }
}

/** The comms that are open, and the targets that front ends may open more of. */
export class CommTable implements Comms {
  readonly #open = new Map<string, Comm>();
  readonly #targets = new Map<string, (comm: Comm, message: CommMessage) => void>();
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  get all(): ReadonlyMap<string, Comm> {
    return this.#open;
  }

  register(target: string, opened: (comm: Comm, message: CommMessage) => void): void {
    this.#targets.set(target, opened);
  }

  unregister(target: string): void {
    this.#targets.delete(target);
  }

  open(target: string, data: Data = {}, options: CommOptions & { id?: string } = {}): Comm {
    const comm = new KernelComm(this, options.id ?? randomUUID(), target);
    this.#open.set(comm.id, comm);
    this.send("open", comm, data, options);
    return comm;
  }

  /** Towards the front end; a closed comm may not send. */
  send(event: CommEvent, comm: Comm, data: Data, options: CommOptions = {}): void {
    if (!this.#open.has(comm.id)) {
      throw new Error(`Cannot send on comm ${comm.id}: it must be open, got a closed one`);
    }
    if (event === "close") this.#open.delete(comm.id);
    const { metadata = {}, buffers = [] } = options;
    const { id: commId, target } = comm;
    this.#send({ type: "comm", event, commId, target, data, metadata, buffers });
  }

  /** From the front end. An unknown target is closed again, an unknown comm is nobody's. */
  async receive({ event, commId, target, data, metadata, buffers }: CommTraffic): Promise<void> {
    const message: CommMessage = { data, metadata, buffers };
    if (event === "open") {
      const opened = this.#targets.get(target);
      const comm = new KernelComm(this, commId, target);
      this.#open.set(commId, comm);
      if (opened === undefined) comm.close({ reason: `no target named ${target}` });
      else opened(comm, message);
      return;
    }
    const comm = this.#open.get(commId);
    if (comm === undefined) return;
    if (event === "close") {
      this.#open.delete(commId);
      await comm.onClose?.(message);
    } else await comm.onMessage?.(message);
  }
}
