import { mkdir, rename, rm, stat } from "#platform/files";
import { basename, dirname, extname, join } from "#platform/path";
import type { Writer } from "../../notebook/write.js";
import { ErrorResponse } from "../../../http-server/error-response.js";
import type { Paths } from "./paths.js";
import { readWhole } from "./read-whole.js";
import { exists, statusOf, timeOf } from "./status.js";

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

  async #file(path: string): Promise<string> {
    const place = this.#paths.resolve(path);
    if ((await statusOf(place))?.isFile() !== true) {
      throw new ErrorResponse(404, `No such file: ${path}`);
    }
    return place;
  }

  async #existing(path: string, given: string): Promise<string> {
    const checkpoint = this.#place(this.#paths.resolve(path));
    if (given !== id || !(await exists(checkpoint))) {
      throw new ErrorResponse(404, `No such checkpoint of ${path}: ${given}`);
    }
    return checkpoint;
  }

  async create(path: string): Promise<Checkpoint> {
    const place = await this.#file(path);
    const checkpoint = this.#place(place);
    await mkdir(dirname(checkpoint), { recursive: true });
    this.#write(checkpoint, (await readWhole(place, false)).bytes);
    return { id, last_modified: timeOf(await stat(checkpoint)) };
  }

  async list(path: string): Promise<Checkpoint[]> {
    const status = await statusOf(this.#place(await this.#file(path)));
    return status === undefined ? [] : [{ id, last_modified: timeOf(status) }];
  }

  async restore(path: string, given: string): Promise<void> {
    const { bytes } = await readWhole(await this.#existing(path, given), false);
    this.#write(this.#paths.resolve(path), bytes);
  }

  async delete(path: string, given: string): Promise<void> {
    await rm(await this.#existing(path, given));
  }

  /** Follows a file that was renamed. */
  async move(from: string, to: string): Promise<void> {
    const old = this.#place(from);
    if (!(await exists(old))) return;
    const moved = this.#place(to);
    await mkdir(dirname(moved), { recursive: true });
    await rename(old, moved);
  }

  /** Follows a file that was deleted. */
  async remove(place: string): Promise<void> {
    await rm(this.#place(place), { force: true });
  }
}
