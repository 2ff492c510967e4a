import {
  appendNoFollow,
  closeSync,
  type FileHandle,
  type FileStat,
  fstatSync,
  lstatIfThereSync,
  open,
  openSync,
  readNoFollow,
} from "#platform/files";
import type { HeldFolder } from "#platform/held-folder";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { OpenedFile } from "../http/router.js";

/** So often a file is opened that is replaced at the same moment. */
const mostAttempts = 5;

/** A name in a folder that is held open. Nothing here follows a link of that name. */
export class Place {
  /** `path`: how messages call it. */
  constructor(
    readonly folder: HeldFolder,
    readonly name: string,
    readonly path: string,
  ) {}

  /** The address for calls that never follow a link: rename, remove, make. */
  get at(): string {
    return `${this.folder.path}/${this.name}`;
  }

  /** Another name in the same folder. */
  beside(name: string): Place {
    return new Place(this.folder, name, this.path);
  }

  /** What is there; undefined where nothing is. */
  status(): FileStat | undefined {
    return lstatIfThereSync(this.at);
  }

  /** What is there; files and folders only. */
  existing(): FileStat {
    const status = this.status();
    if (status === undefined)
      throw new ErrorResponse(404, `No such file or directory: ${this.path}`);
    if (!status.isFile() && !status.isDirectory()) {
      throw new ErrorResponse(400, `Cannot use ${this.path}: it is neither a file nor a directory`);
    }
    return status;
  }

  /** Opens the regular file that is there; a pipe or a device is refused and does not block. */
  async open<T>(use: (file: FileHandle, status: FileStat) => Promise<T>): Promise<T> {
    return await this.#opened(readNoFollow, use);
  }

  /** Writes on at the file's end; it is on disk then. */
  async append(data: string | Uint8Array): Promise<void> {
    await this.#opened(appendNoFollow, async (file) => {
      await file.writeFile(data);
      await file.datasync();
    });
  }

  async #opened<T>(
    flags: number,
    use: (file: FileHandle, status: FileStat) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      this.#refuseOdd();
      const file = await open(this.at, flags);
      try {
        const status = await file.stat();
        if (!status.isFile()) this.#refuse();
        this.folder.check();
        // Where it was replaced meanwhile, what has its name now is opened.
        if (this.folder.holds(this.name, status)) return await use(file, status);
      } finally {
        await file.close();
      }
      if (attempt === mostAttempts) this.#changing();
    }
  }

  /** The file, opened for whoever sends it, and closes it. */
  openedFile(): OpenedFile {
    this.#refuseOdd();
    const fd = openSync(this.at, readNoFollow);
    try {
      const status = fstatSync(fd);
      if (!status.isFile()) this.#refuse();
      this.folder.check();
      if (!this.folder.holds(this.name, status)) this.#changing();
      return { fd, size: status.size };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** To open a device may do something: it is refused before, and asked again once it is open. */
  #refuseOdd(): void {
    const status = this.status();
    if (status !== undefined && !status.isFile()) this.#refuse();
  }

  #changing(): never {
    throw new ErrorResponse(409, `Cannot use ${this.path}: it changes while it is opened`);
  }

  #refuse(): never {
    throw new ErrorResponse(400, `Cannot use ${this.path}: it is not a file`);
  }
}
