import { mkdirSync, readdirSync, readFileSync, rmSync, statIfThereSync } from "#platform/files";
import { join } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { writeAtomically } from "../../notebook/write.js";

/** A text that was kept, with its times. */
export interface Kept {
  name: string;
  text: string;
  created: string;
  last_modified: string;
}

/**
 * Texts by name: in a folder, or in memory where there is none. Names are hashed into file names, so
 * that no name can lead anywhere.
 */
export class Store {
  readonly #folder: string | undefined;
  readonly #memory = new Map<string, Kept>();

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  #file(folder: string, name: string): string {
    return join(folder, `${sha256(name).slice(0, 32)}.json`);
  }

  get(name: string): Kept | undefined {
    if (this.#folder === undefined) return this.#memory.get(name);
    return this.#read(this.#file(this.#folder, name));
  }

  #read(file: string): Kept | undefined {
    try {
      const { name, text } = JSON.parse(readFileSync(file, "utf8")) as {
        name: string;
        text: string;
      };
      const { birthtimeMs, mtimeMs } = statIfThereSync(file)!;
      const time = (ms: number) => new Date(Math.round(ms)).toISOString();
      return { name, text, created: time(birthtimeMs), last_modified: time(mtimeMs) };
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return undefined;
      throw error;
    }
  }

  put(name: string, text: string): void {
    const now = new Date().toISOString();
    if (this.#folder === undefined) {
      this.#memory.set(name, { name, text, created: now, last_modified: now });
      return;
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeAtomically(this.#file(this.#folder, name), JSON.stringify({ name, text }));
  }

  delete(name: string): void {
    this.#memory.delete(name);
    if (this.#folder !== undefined) rmSync(this.#file(this.#folder, name), { force: true });
  }

  list(): Kept[] {
    if (this.#folder === undefined) return [...this.#memory.values()];
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return [];
      throw error;
    }
    const folder = this.#folder;
    return names
      .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
      .map((name) => this.#read(join(folder, name)))
      .filter((kept) => kept !== undefined);
  }
}
