import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { HttpError } from "../http/http-error.js";
import type { Writer } from "./contents.js";
import type { Paths } from "./paths.js";

export interface Checkpoint {
  id: string;
  last_modified: string;
}

const id = "checkpoint";

/** The one state of each file that can be gone back to, kept where Jupyter keeps it. */
export class Checkpoints {
  readonly #paths: Paths;
  readonly #write: Writer;

  constructor(paths: Paths, write: Writer) {
    this.#paths = paths;
    this.#write = write;
  }

  #place(place: string): string {
    const ext = extname(place);
    return join(dirname(place), ".ipynb_checkpoints", `${basename(place, ext)}-${id}${ext}`);
  }

  #file(path: string): string {
    const place = this.#paths.resolve(path);
    if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new HttpError(404, `No such file: ${path}`);
    }
    return place;
  }

  #existing(path: string, given: string): string {
    const checkpoint = this.#place(this.#paths.resolve(path));
    if (given !== id || !existsSync(checkpoint)) {
      throw new HttpError(404, `No such checkpoint of ${path}: ${given}`);
    }
    return checkpoint;
  }

  create(path: string): Checkpoint {
    const place = this.#file(path);
    const checkpoint = this.#place(place);
    mkdirSync(dirname(checkpoint), { recursive: true });
    this.#write(checkpoint, readFileSync(place));
    return { id, last_modified: statSync(checkpoint).mtime.toISOString() };
  }

  list(path: string): Checkpoint[] {
    const status = statSync(this.#place(this.#file(path)), { throwIfNoEntry: false });
    return status === undefined ? [] : [{ id, last_modified: status.mtime.toISOString() }];
  }

  restore(path: string, given: string): void {
    const checkpoint = this.#existing(path, given);
    this.#write(this.#paths.resolve(path), readFileSync(checkpoint));
  }

  delete(path: string, given: string): void {
    rmSync(this.#existing(path, given));
  }

  /** Follows a file that was renamed. */
  move(from: string, to: string): void {
    const old = this.#place(from);
    if (!existsSync(old)) return;
    const moved = this.#place(to);
    mkdirSync(dirname(moved), { recursive: true });
    renameSync(old, moved);
  }

  /** Follows a file that was deleted. */
  remove(place: string): void {
    rmSync(this.#place(place), { force: true });
  }
}
