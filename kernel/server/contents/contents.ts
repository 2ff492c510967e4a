import { fromBase64, toBase64 } from "#platform/bytes";
import {
  type FileStat,
  isWritable,
  mkdir,
  open,
  piecesOf,
  readdir,
  rename,
  rm,
  rmdir,
  syncFolder,
} from "#platform/files";
import { basename, extname } from "#platform/path";
import { replaceFile, type Writer } from "../../notebook/write.js";
import { ErrorResponse, toErrorResponse } from "../../../common/http-server/error-response.js";
import { Checkpoints } from "./checkpoints.js";
import { locked } from "./locked.js";
import { type ContentsModel, type GetOptions, mimeOf, type SaveModel } from "./model.js";
import { readNotebookText, writeNotebookText } from "./notebook-text.js";
import { Paths } from "./paths.js";
import { Place } from "./place.js";
import { hashOf, mostBytes, readWhole, timeOf, tooLarge } from "./read-whole.js";
import { Trust } from "./trust.js";

const emptyNotebook = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
export const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/.test(text);

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
  readonly #unlisted: ReadonlySet<string>;
  /** The change under way, if any. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(
    folder: string,
    options: {
      trustFile?: string | undefined;
      /** SHA-256 of notebooks whose outputs are trusted as they are. */
      shipped?: ReadonlySet<string>;
      /** Paths that no list has. */
      unlisted?: readonly string[] | undefined;
      write?: Writer;
      paths?: Paths;
    } = {},
  ) {
    this.paths = options.paths ?? new Paths(folder);
    this.#write = options.write ?? replaceFile;
    this.#unlisted = new Set(options.unlisted);
    this.checkpoints = new Checkpoints(this.paths, this.#write);
    this.#trust = new Trust(options.trustFile, options.shipped);
  }

  /** Makes a change when those before it are done. */
  async #change<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#changing.then(make);
    this.#changing = made.catch(() => undefined); // whoever asked for it is told
    return await made;
  }

  /** A file, notebook or folder; with what is in it unless told otherwise. */
  async get(path: string, options: GetOptions = {}): Promise<ContentsModel> {
    return await this.paths.use(path, "target", async (place) => await this.#get(place, options));
  }

  async #get(place: Place, options: GetOptions): Promise<ContentsModel> {
    const { path } = place;
    const model = await this.#model(Paths.tidy(path), place, place.existing());
    if (options.type === "directory" && model.type !== "directory") {
      throw new ErrorResponse(400, `Cannot list ${path}: it is not a directory`);
    }
    if (model.type === "directory") {
      if (options.type !== undefined && options.type !== "directory") {
        throw new ErrorResponse(400, `Cannot read ${path}: it is a directory`);
      }
      if (options.content !== false) {
        model.content = await this.#list(model.path);
        model.format = "json";
      }
      return model;
    }
    if (options.type === "file" || options.type === "notebook") model.type = options.type;
    if (options.content === false && options.hash !== true) return model;
    await place.open(async (file, { size }) => {
      if (options.content === false) model.hash = await hashOf(file);
      else {
        if (size > mostBytes) throw tooLarge(path);
        const { bytes, hash } = await readWhole(file, options.hash === true);
        if (hash !== undefined) model.hash = hash;
        this.#fill(model, bytes, options.format);
      }
    });
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
      this.#trust.mark(notebook, bytes);
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

  async #model(path: string, place: Place, status: FileStat): Promise<ContentsModel> {
    const folder = status.isDirectory();
    const name = basename(path);
    return {
      name,
      path,
      type: folder ? "directory" : extname(name) === ".ipynb" ? "notebook" : "file",
      created: new Date(status.birthtimeMs || status.ctimeMs).toISOString(),
      last_modified: timeOf(status),
      writable: await isWritable(place.at),
      size: folder ? null : status.size,
      mimetype: folder ? null : (mimeOf(name) ?? null),
      format: null,
      content: null,
      hash: null,
      hash_algorithm: null,
    };
  }

  async #list(path: string): Promise<ContentsModel[]> {
    const names = await this.paths.useFolder(path, async ({ path: at }) => await readdir(at));
    const models: ContentsModel[] = [];
    for (const name of names.sort()) {
      if (name.startsWith(".")) continue;
      const inner = path === "" ? name : `${path}/${name}`;
      if (this.#unlisted.has(inner)) continue;
      try {
        models.push(await this.get(inner, { content: false }));
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

  async #save(
    path: string,
    model: SaveModel,
    isNew = false,
  ): Promise<{ model: ContentsModel; created: boolean }> {
    const saved = await this.paths.use(path, "target", async (place) => {
      if (place.name === ".") throw new ErrorResponse(400, "Cannot save: the path is empty");
      const type = model.type ?? (extname(path) === ".ipynb" ? "notebook" : "file");
      if (type === "directory") {
        const there = place.status();
        if (there?.isFile())
          throw new ErrorResponse(400, `Cannot save ${path}: it is not a directory`);
        if (there === undefined || isNew) {
          await mkdir(place.at);
          await syncFolder(place.folder.path);
        }
        return { type, created: there === undefined };
      }
      const data = this.#data(path, type, model);
      // Another lab may have the same folder: nothing of it comes between the look and the writing.
      const created = await locked(place, async () => await this.#put(place, data, model, isNew));
      return { type, created };
    });
    const { type, created } = saved;
    const hash = type !== "directory";
    return { model: await this.get(path, { content: false, type, hash }), created };
  }

  /** Writes what was given, unless the file is not what it was given for; says whether it is new. */
  async #put(
    place: Place,
    data: string | Uint8Array,
    model: SaveModel,
    isNew: boolean,
  ): Promise<boolean> {
    const { path } = place;
    const before = place.status() === undefined ? undefined : place.existing();
    if (before?.isDirectory()) {
      throw new ErrorResponse(400, `Cannot save ${path}: it is a directory`);
    }
    if (before !== undefined && isNew)
      throw new ErrorResponse(409, `Cannot make ${path}: it exists`);
    const goesOn = model.chunk !== undefined && model.chunk !== 1;
    if (before !== undefined && !goesOn) await this.#refuseStale(place, before, model);
    if (before !== undefined && !(await isWritable(place.at))) {
      throw new ErrorResponse(403, `Cannot save ${path}: the file is read-only`);
    }
    place.folder.check();
    if (goesOn) await place.append(data);
    else this.#write(place.at, data, () => place.folder.check());
    return before === undefined;
  }

  async #refuseStale(place: Place, before: FileStat, model: SaveModel): Promise<void> {
    const { last_modified: time, hash } = model;
    const changed =
      typeof hash === "string"
        ? (await place.open(hashOf)) !== hash
        : typeof time === "string" && timeOf(before) !== new Date(time).toISOString();
    if (changed) {
      throw new ErrorResponse(
        409,
        `Cannot save ${place.path}: the file on disk has changed since it was read`,
      );
    }
  }

  #data(path: string, type: string, model: SaveModel): string | Uint8Array {
    const { content, format } = model;
    if (type === "notebook" && model.chunk === undefined) {
      const text = writeNotebookText(content ?? emptyNotebook, path); // refuses what is not a notebook
      const notebook = structuredClone(content ?? emptyNotebook);
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
      if (!isBase64(content)) throw new ErrorResponse(400, `Cannot save ${path}: it is not base64`);
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
      const make = async (path: string) => (await this.#save(path, { type }, true)).model;
      return await this.#atFree(Paths.tidy(folder), stem, gap, ext, "", make);
    });
  }

  /** Makes something under the first name that is free; continues to the next where another was faster. */
  async #atFree<T>(
    folder: string,
    stem: string,
    gap: string,
    ext: string,
    first: string,
    make: (path: string) => Promise<T>,
  ): Promise<T> {
    for (let n = 0; ; n++) {
      const name = `${stem}${n === 0 ? first : gap + String(n)}${ext}`;
      const path = folder === "" ? name : `${folder}/${name}`;
      // A link is in the way as well, wherever it leads.
      const isTaken = await this.paths.useFolder(
        folder,
        async (held) => new Place(held, name, path).status() !== undefined,
      );
      if (isTaken) continue;
      try {
        return await make(path);
      } catch (error) {
        if (toErrorResponse(error).status !== 409) throw error;
      }
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
    const make = async (path: string): Promise<ContentsModel> => {
      await this.paths.use(path, "link", async (to) => {
        await this.paths.use(from, "target", async (place) => await copyNew(place, to));
      });
      return await this.get(path, { content: false });
    };
    return await this.#change(async () => {
      const same = here === "" ? source.name : `${here}/${source.name}`;
      try {
        return await make(same);
      } catch (error) {
        if (toErrorResponse(error).status !== 409) throw error;
        return await this.#atFree(here, `${stem}-Copy`, "", ext, "1", make);
      }
    });
  }

  /** Renames or moves; never over something. */
  async rename(path: string, to: string): Promise<ContentsModel> {
    await this.#change(async () => {
      await this.paths.use(path, "link", async (from) => {
        await this.paths.use(to, "link", async (target) => await this.#rename(from, target));
      });
    });
    return await this.get(to, { content: false });
  }

  async #rename(from: Place, to: Place): Promise<void> {
    if (from.name === "." || to.name === ".") {
      throw new ErrorResponse(400, "Cannot rename: the path is empty");
    }
    const { path } = from;
    await locked(to, async () => {
      const before = from.status();
      if (before === undefined) throw new ErrorResponse(404, `No such file or directory: ${path}`);
      if (Paths.tidy(path) === Paths.tidy(to.path)) return;
      const there = to.status();
      // On a disk that takes a.txt and A.txt for one name, the file itself is there; another name of it is in the way.
      const isItself =
        there?.ino === before.ino &&
        there.dev === before.dev &&
        (there.isDirectory() || there.nlink === 1);
      if (there !== undefined && !isItself) {
        throw new ErrorResponse(409, `Cannot rename ${path}: ${to.path} already exists`);
      }
      await rename(from.at, to.at);
      await syncFolder(to.folder.path);
      await syncFolder(from.folder.path);
      await this.checkpoints.move(from, to);
    });
  }

  /** Deletes a file or an empty folder; of a link, the link. */
  async delete(path: string): Promise<void> {
    const remove = async (place: Place): Promise<void> => {
      if (place.name === ".") throw new ErrorResponse(400, "Cannot delete: the path is empty");
      const status = place.status();
      if (status === undefined) throw new ErrorResponse(404, `No such file or directory: ${path}`);
      if (!status.isDirectory()) {
        await rm(place.at);
        await syncFolder(place.folder.path);
        await this.checkpoints.remove(place);
        return;
      }
      await this.paths.useFolder(path, async (folder) => {
        const left = (await readdir(folder.path)).filter((name) => name !== ".ipynb_checkpoints");
        if (left.length > 0) throw new ErrorResponse(400, `Cannot delete ${path}: it is not empty`);
        await Checkpoints.clear(folder);
      });
      await rmdir(place.at);
      await syncFolder(place.folder.path);
    };
    await this.#change(async () => await this.paths.use(path, "link", remove));
  }
}

/** Copies a file's bytes to a name that is free. */
async function copyNew(from: Place, to: Place): Promise<void> {
  await from.open(async (source) => {
    const target = await open(to.at, "wx");
    try {
      for await (const piece of piecesOf(source)) await target.writeFile(piece);
      await target.sync();
      await syncFolder(to.folder.path);
    } catch (error) {
      await rm(to.at, { force: true }); // no part of a copy stays
      throw error;
    } finally {
      await target.close();
    }
  });
}
