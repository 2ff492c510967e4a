import { utf8Bytes, utf8Text } from "#platform/bytes";
import { randomUUID } from "#platform/uuid";
import type { Json } from "../../../common/http-server/body.js";
import { PROTOCOL_VERSION } from "../../wire/message.js";
import type { Frames } from "./codec.js";
import type { Listener } from "./listener.js";

const sizeOf = ({ header, parent, metadata, content, buffers }: Frames): number =>
  header.length +
  parent.length +
  metadata.length +
  content.length +
  buffers.reduce((sum, buffer) => sum + buffer.length, 0);

interface Entry {
  type: string;
  frames: Frames;
  size: number;
  /** A later update of the same place has come. */
  stale: boolean;
}

const outputs = new Set(["stream", "display_data", "execute_result", "error"]);

/**
 * The messages of one run of a cell, so far as they still matter: what was cleared or updated since is
 * left out, and where they are too many the oldest text goes first.
 */
export class Recording {
  readonly #limit: number;
  #entries: Entry[] = [];
  /** The last update of each place. */
  readonly #updates = new Map<string, Entry>();
  #stale = 0;
  #bytes = 0;
  #cut = 0;
  #clearNext = false;

  /** Frees text beyond `limit` bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of text that are no longer there. */
  get cut(): number {
    return this.#cut;
  }

  frames(): Frames[] {
    return this.#entries.filter(({ stale }) => !stale).map(({ frames }) => frames);
  }

  add(type: string, frames: Frames): void {
    const content = (): Json => JSON.parse(utf8Text(frames.content)) as Json;
    if (type === "clear_output") {
      // To clear at the next output is to clear when that comes.
      if (content()["wait"] === true) this.#clearNext = true;
      else this.#clear();
    } else if (this.#clearNext && outputs.has(type)) this.#clear();
    const entry = { type, frames, size: sizeOf(frames), stale: false };
    if (type === "update_display_data") {
      const { transient } = content() as { transient?: { display_id?: string } };
      this.#replace(transient?.display_id ?? "", entry);
    }
    this.#entries.push(entry);
    this.#bytes += entry.size;
    if (this.#bytes > this.#limit) this.#shorten();
  }

  #replace(display: string, entry: Entry): void {
    const before = this.#updates.get(display);
    this.#updates.set(display, entry);
    if (before === undefined) return;
    before.stale = true;
    this.#bytes -= before.size;
    if (++this.#stale > 1000) this.#keep(() => true);
  }

  /** What was shown before matters no more. */
  #clear(): void {
    this.#clearNext = false;
    this.#updates.clear();
    this.#keep(({ type }) => ["status", "execute_input"].includes(type));
  }

  #keep(matters: (entry: Entry) => boolean): void {
    this.#entries = this.#entries.filter((entry) => !entry.stale && matters(entry));
    this.#bytes = this.#entries.reduce((sum, { size }) => sum + size, 0);
    this.#stale = 0;
  }

  /** Frees text until a quarter is free; what else there is stays, however large. */
  #shorten(): void {
    let excess = this.#bytes - (this.#limit * 3) / 4;
    this.#keep(({ type, size }) => {
      if (type !== "stream" || excess <= 0) return true;
      excess -= size;
      this.#cut += size;
      return false;
    });
  }
}

const read = (bytes: Uint8Array): Json => JSON.parse(utf8Text(bytes)) as Json;
const json = (value: unknown): Uint8Array => utf8Bytes(JSON.stringify(value));

/** A save this soon after a cell's end may come from a page that has not yet heard of the end. */
const settling = 2000;

/** Front ends drop messages of a process that is no more: a restarted kernel has another session. */
function inSession(frames: Frames, session: string): Frames {
  const header = read(frames.header);
  if (header["session"] === session) return frames;
  return { ...frames, header: json({ ...header, session }) };
}

interface Header {
  msg_id: string;
  msg_type: string;
  session?: string;
}

/** One run of one cell. */
interface Execution {
  id: string;
  cell: string;
  request: { header: Json; metadata: Json; content: Json };
  /** Everybody who has had all of it, or gets it as it comes. */
  readonly followers: Set<Listener>;
  readonly recording: Recording;
  count: number | undefined;
  /** A question to the reader that nobody has answered. */
  asking: Frames | undefined;
  ended: number | undefined;
  /** The cell was deleted while it ran. */
  gone: boolean;
}

/**
 * What the cells of a kernel put out, until their notebook is saved with it: a page that is opened, or
 * loaded again, while a cell runs gets the whole of it, and continues from there.
 */
export class Executions {
  readonly #limit: number;
  readonly #byCell = new Map<string, Execution>();
  readonly #byId = new Map<string, Execution>();

  /** Keeps about `limit` bytes of each run, and four times that of those that have ended. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Notes that a listener wants a cell run. */
  requested(header: Header, frames: Frames, from: Listener): void {
    if (header.msg_type !== "execute_request") return;
    const metadata = read(frames.metadata);
    const cell = metadata["cellId"];
    if (typeof cell !== "string") return;
    const content = read(frames.content);
    if (content["silent"] === true) return;
    const before = this.#byCell.get(cell);
    if (before !== undefined) this.#forget(before);
    const execution: Execution = {
      id: header.msg_id,
      cell,
      request: { header: read(frames.header), metadata, content },
      followers: new Set([from]),
      recording: new Recording(this.#limit),
      count: undefined,
      asking: undefined,
      ended: undefined,
      gone: false,
    };
    this.#byCell.set(cell, execution);
    this.#byId.set(execution.id, execution);
  }

  #forget(execution: Execution): void {
    this.#byId.delete(execution.id);
    if (this.#byCell.get(execution.cell) === execution) this.#byCell.delete(execution.cell);
  }

  /** Notes what the kernel says for a request. */
  said(parent: string, type: string, frames: Frames): void {
    const execution = this.#byId.get(parent);
    if (execution === undefined) return;
    switch (type) {
      case "execute_input":
        execution.count = Number(read(frames.content)["execution_count"]);
        break;
      case "input_request":
        execution.asking = frames;
        return;
      case "execute_reply":
        this.#end(execution);
    }
    execution.recording.add(type, frames);
  }

  #end(execution: Execution): void {
    execution.asking = undefined;
    execution.ended = Date.now();
    if (execution.gone) this.#forget(execution);
    const ended = [...this.#byId.values()].filter((e) => e.ended !== undefined);
    let bytes = ended.reduce((sum, { recording }) => sum + recording.bytes, 0);
    for (const oldest of ended) {
      if (bytes <= 4 * this.#limit) break;
      bytes -= oldest.recording.bytes;
      this.#forget(oldest);
    }
  }

  /** Notes that the reader has answered; only one run at a time can ask. */
  answered(): void {
    for (const execution of this.#byId.values()) execution.asking = undefined;
  }

  /** The kernel has gone: what ran will not end any more. */
  died(): void {
    for (const execution of this.#byId.values()) {
      if (execution.ended !== undefined) continue;
      const { header } = execution.request;
      const error = {
        ename: "DeadKernelError",
        evalue: "the kernel ended before the cell did",
        traceback: ["The kernel ended before the cell did."],
      };
      const say = (channel: "iopub" | "shell", type: string, content: Json): void =>
        execution.recording.add(type, this.#message(channel, type, content, header));
      say("iopub", "error", error);
      const execution_count = execution.count ?? null;
      say("shell", "execute_reply", { status: "error", ...error, execution_count });
      say("iopub", "status", { execution_state: "idle" });
      this.#end(execution);
    }
  }

  /** The notebook was saved: what is in the file now need not be kept. */
  saved(notebook: Json): void {
    const cells = new Map<string, Json>();
    for (const cell of notebook["cells"] as Json[]) cells.set(String(cell["id"]), cell);
    for (const execution of [...this.#byId.values()]) {
      const { ended, followers } = execution;
      const cell = cells.get(execution.cell);
      if (cell === undefined) {
        if (ended === undefined) execution.gone = true;
        else this.#forget(execution);
        continue;
      }
      execution.gone = false;
      if (ended === undefined) continue;
      const isThere = cell["execution_count"] === execution.count;
      // Cleared, or run elsewhere since, by somebody who has seen it.
      const seen = [...followers].some((f) => f.connected) && Date.now() - ended > settling;
      if (isThere || seen) this.#forget(execution);
    }
  }

  /** Ids of requests that a listener has not had from their start. */
  missing(listener: Listener): string[] {
    return [...this.#byId.values()]
      .filter((execution) => !execution.followers.has(listener) && !execution.gone)
      .map(({ id }) => id);
  }

  /**
   * All that belongs to the runs a listener does not know, each begun by a message of the type
   * `arpo_lab_replay` that holds its request. `session` is the kernel's, as its messages have it.
   */
  replay(listener: Listener, session: string): Frames[] {
    const all: Frames[] = [];
    for (const id of this.missing(listener)) {
      const execution = this.#byId.get(id)!;
      const { cell, request, recording, asking, followers } = execution;
      followers.add(listener);
      const content: Json = { cell, request, cut: recording.cut };
      all.push(this.#message("iopub", "arpo_lab_replay", content, request.header));
      all.push(...recording.frames());
      if (asking !== undefined) all.push(asking);
    }
    return all.map((frames) => inSession(frames, session));
  }

  /** Somebody will not come back. */
  left(listener: Listener): void {
    for (const { followers } of this.#byId.values()) followers.delete(listener);
  }

  #message(channel: Frames["channel"], msg_type: string, content: Json, parent: Json): Frames {
    const header = {
      msg_id: randomUUID(),
      msg_type,
      session: "server",
      username: "server",
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    };
    return {
      channel,
      header: json(header),
      parent: json(parent),
      metadata: json({}),
      content: json(content),
      buffers: [],
    };
  }
}
