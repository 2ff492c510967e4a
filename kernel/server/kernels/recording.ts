import { utf8Text } from "#platform/bytes";
import type { Json } from "../../../http-server/body.js";
import type { Frames } from "./codec.js";

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
