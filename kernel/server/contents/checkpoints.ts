import { lstatIfThereSync, readdir, rename, rm, rmdir, syncFolder } from "#platform/files";
import type { HeldFolder } from "#platform/held-folder";
import { extname } from "#platform/path";
import type { Writer } from "../../notebook/write.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { innerFolder, type Paths } from "./paths.js";
import { Place } from "./place.js";
import { readWhole, timeOf } from "./read-whole.js";

interface Checkpoint {
  id: string;
  last_modified: string;
}

const id = "checkpoint";
const folderName = ".ipynb_checkpoints";

/** Does something at a file's checkpoint, in its folder; undefined where there is no such folder. */
async function at<T>(
  place: Place,
  make: boolean,
  act: (checkpoint: Place) => Promise<T>,
): Promise<T | undefined> {
  const ext = extname(place.name);
  const stem = place.name.slice(0, place.name.length - ext.length);
  let folder: HeldFolder;
  try {
    folder = innerFolder(place.folder, folderName, make);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOENT") return undefined;
    if (code !== "ENOTDIR") throw error;
    const why = `Cannot use the checkpoints of ${place.path}: ${folderName} must be a folder, not a link`;
    throw new ErrorResponse(404, why, { cause: error });
  }
  try {
    return await act(new Place(folder, `${stem}-${id}${ext}`, `the checkpoint of ${place.path}`));
  } finally {
    folder.close();
  }
}

/** The one state of each file that can be gone back to, kept where Jupyter keeps it. */
export class Checkpoints {
  readonly #paths: Paths;
  readonly #write: Writer;

  constructor(paths: Paths, write: Writer) {
    this.#paths = paths;
    this.#write = write;
  }

  /** Does something with a file that is there, under its own name and not that of what it leads to. */
  async #ofFile<T>(path: string, act: (place: Place) => Promise<T>): Promise<T> {
    return await this.#paths.use(path, "link", async (place) => {
      if (place.status() === undefined) throw new ErrorResponse(404, `No such file: ${path}`);
      return await act(place);
    });
  }

  async create(path: string): Promise<Checkpoint> {
    const bytes = await this.#paths.use(path, "target", async (place) => {
      if (place.status()?.isFile() !== true) throw new ErrorResponse(404, `No such file: ${path}`);
      return await place.open(async (file) => (await readWhole(file)).bytes);
    });
    const made = await this.#ofFile(path, async (place) =>
      at(place, true, async (checkpoint) => {
        this.#write(checkpoint.at, bytes);
        return timeOf(checkpoint.existing());
      }),
    );
    return { id, last_modified: made! };
  }

  async list(path: string): Promise<Checkpoint[]> {
    return await this.#ofFile(path, async (place) => {
      const status = await at(place, false, async (checkpoint) => checkpoint.status());
      return status?.isFile() === true ? [{ id, last_modified: timeOf(status) }] : [];
    });
  }

  /** Does something with a checkpoint that is there. */
  async #existing<T>(
    path: string,
    given: string,
    act: (checkpoint: Place) => Promise<T>,
  ): Promise<T> {
    const missing = new ErrorResponse(404, `No such checkpoint of ${path}: ${given}`);
    return await this.#paths.use(path, "link", async (place) => {
      const done = await at(place, false, async (checkpoint) => {
        if (given !== id || checkpoint.status()?.isFile() !== true) throw missing;
        return { value: await act(checkpoint) };
      });
      if (done === undefined) throw missing;
      return done.value;
    });
  }

  async restore(path: string, given: string): Promise<void> {
    const read = async (checkpoint: Place): Promise<Uint8Array> =>
      await checkpoint.open(async (file) => (await readWhole(file)).bytes);
    const bytes = await this.#existing(path, given, read);
    await this.#paths.use(path, "target", async (place) => this.#write(place.at, bytes));
  }

  async delete(path: string, given: string): Promise<void> {
    await this.#existing(path, given, async (checkpoint) => await rm(checkpoint.at));
  }

  /** Follows a file that was renamed. */
  async move(from: Place, to: Place): Promise<void> {
    await at(from, false, async (old) => {
      if (old.status() === undefined) return;
      await at(to, true, async (moved) => {
        await rename(old.at, moved.at);
        await syncFolder(moved.folder.path);
        await syncFolder(old.folder.path);
      });
    });
  }

  /** Follows a file that was deleted. */
  async remove(place: Place): Promise<void> {
    await at(place, false, async (checkpoint) => await rm(checkpoint.at, { force: true }));
  }

  /** Removes all checkpoints of a folder that is to go. */
  static async clear(folder: HeldFolder): Promise<void> {
    let inner: HeldFolder;
    try {
      inner = innerFolder(folder, folderName, false);
    } catch (error) {
      const { code } = error as { code?: string };
      // A link, or a file, goes by its own name; what it leads to stays.
      if (code === "ENOTDIR") await rm(`${folder.path}/${folderName}`);
      else if (code !== "ENOENT") throw error;
      return;
    }
    try {
      const names = await readdir(inner.path);
      if (names.some((name) => lstatIfThereSync(`${inner.path}/${name}`)?.isDirectory() === true)) {
        throw new ErrorResponse(400, `Cannot delete a folder: its ${folderName} holds a folder`);
      }
      for (const name of names) await rm(`${inner.path}/${name}`);
    } finally {
      inner.close();
    }
    await rmdir(`${folder.path}/${folderName}`);
  }
}
