import { fromBase64, toBase64 } from "#platform/bytes";
import {
  appendFile,
  copyNewFile,
  type FileStat,
  isWritable,
  mkdir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
} from "#platform/files";
import { basename, extname, join } from "#platform/path";
import { writeAtomically, type Writer } from "../../notebook/write.js";
import { ErrorResponse, toErrorResponse } from "../../../http-server/error-response.js";
import { Checkpoints } from "./checkpoints.js";
import { mimeOf } from "./mime.js";
import type { ContentsModel, GetOptions, SaveModel } from "./model.js";
import { readNotebookText, writeNotebookText } from "./notebook-text.js";
import { Paths } from "./paths.js";
import { hashOf, readWhole } from "./read-whole.js";
import { exists, statusOf, timeOf } from "./status.js";
import { mostBytes, tooLarge } from "./too-large.js";
import { Trust } from "./trust.js";

const emptyNotebook = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** The bytes as text; undefined where they are not UTF-8. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The files below one folder, as Jupyter's contents API has them. Changes are made one after the other:
 * nothing comes between the look at a file and the writing of it.
 */
export class Contents {
  readonly paths: Paths;
  readonly checkpoints: Checkpoints;
  readonly #trust: Trust;
  readonly #write: Writer;
  /** The change under way, if any. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(folder: string, options: { trustFile?: string; write?: Writer } = {}) {
    this.paths = new Paths(folder);
    this.#write = options.write ?? writeAtomically;
    this.checkpoints = new Checkpoints(this.paths, this.#write);
    this.#trust = new Trust(options.trustFile);
  }

  /** Makes a change when those before it are done. */
  async #change<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#changing.then(make);
    this.#changing = made.catch(() => undefined); // whoever asked for it is told
    return await made;
  }

  /** A file, notebook or folder; with what is in it unless told otherwise. */
  async get(path: string, options: GetOptions = {}): Promise<ContentsModel> {
    const place = this.paths.resolve(path);
    const status = await this.#status(path, place);
    const model = await this.#model(Paths.tidy(path), place, status);
    if (options.type === "directory" && model.type !== "directory") {
      throw new ErrorResponse(400, `Cannot list ${path}: it is not a directory`);
    }
    if (model.type === "directory") {
      if (options.type !== undefined && options.type !== "directory") {
        throw new ErrorResponse(400, `Cannot read ${path}: it is a directory`);
      }
      if (options.content !== false) {
        model.content = await this.#list(model.path, place);
        model.format = "json";
      }
      return model;
    }
    if (options.type === "file" || options.type === "notebook") model.type = options.type;
    if (options.content === false && options.hash !== true) return model;
    if (options.content === false) model.hash = await hashOf(place);
    else {
      if (status.size > mostBytes) throw tooLarge(path);
      const { bytes, hash } = await readWhole(place, options.hash === true);
      if (hash !== undefined) model.hash = hash;
      this.#fill(model, bytes, options.format);
    }
    if (options.hash === true) model.hash_algorithm = "sha256";
    return model;
  }

  #fill(model: ContentsModel, bytes: Uint8Array, format: string | undefined): void {
    const text = format === "base64" && model.type === "file" ? undefined : asText(bytes);
    if (model.type === "notebook") {
      if (text === undefined) {
        throw new ErrorResponse(400, `Unreadable notebook: ${model.path}: it must be UTF-8`);
      }
      const notebook = readNotebookText(text, model.path);
      this.#trust.mark(notebook);
      model.content = notebook;
      model.format = "json";
      model.mimetype = null;
    } else if (text !== undefined) {
      model.content = text;
      model.format = "text";
      model.mimetype ??= "text/plain";
    } else {
      if (format === "text") {
        throw new ErrorResponse(400, `Cannot read ${model.path} as text: it must be UTF-8`);
      }
      model.content = toBase64(bytes);
      model.format = "base64";
      model.mimetype ??= "application/octet-stream";
    }
  }

  async #status(path: string, place: string): Promise<FileStat> {
    const status = await statusOf(place);
    if (status === undefined) throw new ErrorResponse(404, `No such file or directory: ${path}`);
    if (!status.isFile() && !status.isDirectory()) {
      throw new ErrorResponse(400, `Cannot use ${path}: it is neither a file nor a directory`);
    }
    return status;
  }

  async #model(path: string, place: string, status: FileStat): Promise<ContentsModel> {
    const folder = status.isDirectory();
    const name = path === "" ? "" : basename(place);
    return {
      name,
      path,
      type: folder ? "directory" : extname(name) === ".ipynb" ? "notebook" : "file",
      created: new Date(status.birthtimeMs || status.ctimeMs).toISOString(),
      last_modified: timeOf(status),
      writable: await isWritable(place),
      size: folder ? null : status.size,
      mimetype: folder ? null : (mimeOf(name) ?? null),
      format: null,
      content: null,
      hash: null,
      hash_algorithm: null,
    };
  }

  async #list(path: string, place: string): Promise<ContentsModel[]> {
    const models: ContentsModel[] = [];
    for (const name of (await readdir(place)).sort()) {
      if (name.startsWith(".")) continue;
      const inner = path === "" ? name : `${path}/${name}`;
      try {
        const found = this.paths.resolve(inner);
        const status = await stat(found);
        if (status.isFile() || status.isDirectory()) {
          models.push(await this.#model(inner, found, status));
        }
      } catch (error) {
        // Broken links, links to elsewhere and what may not be looked at are not shown.
        if (toErrorResponse(error).status >= 500) throw error;
      }
    }
    return models;
  }

  /** Saves a file, a notebook or a folder; says what is there now and whether it is new. */
  async save(path: string, model: SaveModel): Promise<{ model: ContentsModel; created: boolean }> {
    return await this.#change(async () => await this.#save(path, model));
  }

  async #save(path: string, model: SaveModel): Promise<{ model: ContentsModel; created: boolean }> {
    const place = this.paths.resolve(path);
    if (place === this.paths.root) throw new ErrorResponse(400, "Cannot save: the path is empty");
    const before = await statusOf(place);
    const type = model.type ?? (extname(place) === ".ipynb" ? "notebook" : "file");
    if (before !== undefined && before.isDirectory() !== (type === "directory")) {
      throw new ErrorResponse(
        400,
        `Cannot save ${path}: it is ${before.isFile() ? "not " : ""}a directory`,
      );
    }
    if (type === "directory") {
      if (before === undefined) await mkdir(place);
    } else {
      await this.#refuseStale(path, place, before, model);
      const data = this.#data(path, type, model);
      if (before !== undefined && !(await isWritable(place))) {
        throw new ErrorResponse(403, `Cannot save ${path}: the file is read-only`);
      }
      if (model.chunk !== undefined && model.chunk !== 1) await appendFile(place, data);
      else this.#write(place, data);
    }
    return {
      model: await this.get(path, { content: false, type, hash: type !== "directory" }),
      created: before === undefined,
    };
  }

  async #refuseStale(
    path: string,
    place: string,
    before: FileStat | undefined,
    model: SaveModel,
  ): Promise<void> {
    const { last_modified: time, hash } = model;
    if (before === undefined || (model.chunk !== undefined && model.chunk !== 1)) return;
    const changed =
      typeof hash === "string"
        ? (await hashOf(place)) !== hash
        : typeof time === "string" && timeOf(before) !== new Date(time).toISOString();
    if (changed) {
      throw new ErrorResponse(
        409,
        `Cannot save ${path}: the file on disk has changed since it was read`,
      );
    }
  }

  #data(path: string, type: string, model: SaveModel): string | Uint8Array {
    const { content, format } = model;
    if (type === "notebook" && model.chunk === undefined) {
      const notebook = structuredClone(content ?? emptyNotebook);
      const text = writeNotebookText(notebook, path); // refuses what is not a notebook
      this.#trust.unmark(notebook as Record<string, unknown>);
      return content === undefined ? text : writeNotebookText(notebook, path);
    }
    if (type !== "file" && type !== "notebook") {
      throw new ErrorResponse(
        400,
        `Cannot save ${path}: type must be file, notebook or directory, got ${type}`,
      );
    }
    if (content === undefined || content === null) return "";
    if (typeof content !== "string") {
      throw new ErrorResponse(400, `Cannot save ${path}: content must be text`);
    }
    if (format === "base64") {
      if (!base64.test(content))
        throw new ErrorResponse(400, `Cannot save ${path}: it is not base64`);
      return fromBase64(content);
    }
    if (format !== undefined && format !== null && format !== "text") {
      throw new ErrorResponse(
        400,
        `Cannot save ${path}: format must be text or base64, got ${format}`,
      );
    }
    return content;
  }

  /** Makes a new empty file, notebook or folder in a folder, with a name that is free. */
  async create(folder: string, type = "file", extension = ""): Promise<ContentsModel> {
    await this.get(folder, { type: "directory", content: false });
    if (!/^(\.[\w-]+)*$/.test(extension)) {
      throw new ErrorResponse(
        400,
        `Cannot create a file: ext must look like .txt, got ${extension}`,
      );
    }
    const [stem, gap, ext] =
      type === "directory"
        ? ["Untitled Folder", " ", ""]
        : type === "notebook"
          ? ["Untitled", "", ".ipynb"]
          : ["untitled", "", extension];
    return await this.#change(async () => {
      const path = await this.#free(Paths.tidy(folder), stem, gap, ext);
      return (await this.#save(path, { type })).model;
    });
  }

  async #free(folder: string, stem: string, gap: string, ext: string, first = ""): Promise<string> {
    for (let n = 0; ; n++) {
      const name = `${stem}${n === 0 ? first : gap + String(n)}${ext}`;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (!(await exists(this.paths.resolve(path)))) return path;
    }
  }

  /** Copies a file or notebook into a folder; the copy of a copy does not pile up names. */
  async copy(from: string, folder: string): Promise<ContentsModel> {
    const source = await this.get(from, { content: false });
    if (source.type === "directory")
      throw new ErrorResponse(400, `Cannot copy ${from}: it is a directory`);
    await this.get(folder, { type: "directory", content: false });
    const ext = extname(source.name);
    const stem = basename(source.name, ext).replace(/-Copy\d*$/, "");
    const here = Paths.tidy(folder);
    const same = here === "" ? source.name : `${here}/${source.name}`;
    return await this.#change(async () => {
      const taken = await exists(this.paths.resolve(same));
      const path = taken ? await this.#free(here, `${stem}-Copy`, "", ext, "1") : same;
      const target = this.paths.resolve(path);
      await copyNewFile(this.paths.resolve(from), target);
      return await this.get(path, { content: false });
    });
  }

  /** Renames or moves; never over something. */
  async rename(path: string, to: string): Promise<ContentsModel> {
    const from = this.paths.resolve(path);
    const target = this.paths.resolve(to);
    if (from === this.paths.root || target === this.paths.root) {
      throw new ErrorResponse(400, "Cannot rename: the path is empty");
    }
    return await this.#change(async () => {
      const { ino } = await this.#status(path, from);
      if (from !== target) {
        const there = await statusOf(target);
        if (there !== undefined && there.ino !== ino) {
          throw new ErrorResponse(409, `Cannot rename ${path}: ${to} already exists`);
        }
        await rename(from, target);
        await this.checkpoints.move(from, target);
      }
      return await this.get(to, { content: false });
    });
  }

  /** Deletes a file or an empty folder. */
  async delete(path: string): Promise<void> {
    const place = this.paths.resolve(path);
    if (place === this.paths.root) throw new ErrorResponse(400, "Cannot delete: the path is empty");
    await this.#change(async () => {
      const status = await this.#status(path, place);
      if (status.isDirectory()) {
        const left = (await readdir(place)).filter((name) => name !== ".ipynb_checkpoints");
        if (left.length > 0) throw new ErrorResponse(400, `Cannot delete ${path}: it is not empty`);
        await rm(join(place, ".ipynb_checkpoints"), { recursive: true, force: true });
        await rmdir(place);
      } else {
        await rm(place);
        await this.checkpoints.remove(place);
      }
    });
  }
}
