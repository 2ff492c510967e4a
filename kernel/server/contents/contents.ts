import { createHash } from "node:crypto";
import {
  accessSync,
  appendFileSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { writeAtomically } from "../../notebook/write.js";
import { HttpError, toHttpError } from "../http/http-error.js";
import { Checkpoints } from "./checkpoints.js";
import { mimeOf } from "./mime.js";
import type { ContentsModel, GetOptions, SaveModel } from "./model.js";
import { readNotebookText, writeNotebookText } from "./notebook-text.js";
import { Paths } from "./paths.js";
import { Trust } from "./trust.js";

const emptyNotebook = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false; // that is the answer
  }
}

/** The bytes as text; undefined where they are not UTF-8. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** How files are written; exchanged by tests that fill the disk. */
export type Writer = (place: string, data: string | Uint8Array) => void;

/** The files below one folder, as Jupyter's contents API has them. */
export class Contents {
  readonly paths: Paths;
  readonly checkpoints: Checkpoints;
  readonly #trust: Trust;
  readonly #write: Writer;

  constructor(folder: string, options: { trustFile?: string; write?: Writer } = {}) {
    this.paths = new Paths(folder);
    this.#write = options.write ?? writeAtomically;
    this.checkpoints = new Checkpoints(this.paths, this.#write);
    this.#trust = new Trust(options.trustFile);
  }

  /** A file, notebook or folder; with what is in it unless told otherwise. */
  get(path: string, options: GetOptions = {}): ContentsModel {
    const place = this.paths.resolve(path);
    const status = this.#status(path, place);
    const model = this.#model(Paths.tidy(path), place, status);
    if (options.type === "directory" && model.type !== "directory") {
      throw new HttpError(400, `Cannot list ${path}: it is not a directory`);
    }
    if (model.type === "directory") {
      if (options.type !== undefined && options.type !== "directory") {
        throw new HttpError(400, `Cannot read ${path}: it is a directory`);
      }
      if (options.content !== false) {
        model.content = this.#list(model.path, place);
        model.format = "json";
      }
      return model;
    }
    if (options.type === "file" || options.type === "notebook") model.type = options.type;
    if (options.content === false && options.hash !== true) return model;
    const bytes = readFileSync(place);
    if (options.hash === true) {
      model.hash = createHash("sha256").update(bytes).digest("hex");
      model.hash_algorithm = "sha256";
    }
    if (options.content !== false) this.#fill(model, bytes, options.format);
    return model;
  }

  #fill(model: ContentsModel, bytes: Buffer, format: string | undefined): void {
    const text = format === "base64" && model.type === "file" ? undefined : asText(bytes);
    if (model.type === "notebook") {
      if (text === undefined) {
        throw new HttpError(400, `Unreadable notebook: ${model.path}: it must be UTF-8`);
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
        throw new HttpError(400, `Cannot read ${model.path} as text: it must be UTF-8`);
      }
      model.content = bytes.toString("base64");
      model.format = "base64";
      model.mimetype ??= "application/octet-stream";
    }
  }

  #status(path: string, place: string): Stats {
    const status = statSync(place, { throwIfNoEntry: false });
    if (status === undefined) throw new HttpError(404, `No such file or directory: ${path}`);
    if (!status.isFile() && !status.isDirectory()) {
      throw new HttpError(400, `Cannot use ${path}: it is neither a file nor a directory`);
    }
    return status;
  }

  #model(path: string, place: string, status: Stats): ContentsModel {
    const folder = status.isDirectory();
    const name = path === "" ? "" : basename(place);
    return {
      name,
      path,
      type: folder ? "directory" : extname(name) === ".ipynb" ? "notebook" : "file",
      created: new Date(status.birthtimeMs || status.ctimeMs).toISOString(),
      last_modified: status.mtime.toISOString(),
      writable: isWritable(place),
      size: folder ? null : status.size,
      mimetype: folder ? null : (mimeOf(name) ?? null),
      format: null,
      content: null,
      hash: null,
      hash_algorithm: null,
    };
  }

  #list(path: string, place: string): ContentsModel[] {
    const models: ContentsModel[] = [];
    for (const name of readdirSync(place).sort()) {
      if (name.startsWith(".")) continue;
      const inner = path === "" ? name : `${path}/${name}`;
      try {
        const found = this.paths.resolve(inner);
        const status = statSync(found);
        if (status.isFile() || status.isDirectory()) {
          models.push(this.#model(inner, found, status));
        }
      } catch (error) {
        // Broken links, links to elsewhere and what may not be looked at are not shown.
        if (toHttpError(error).status >= 500) throw error;
      }
    }
    return models;
  }

  /** Saves a file, a notebook or a folder; says what is there now and whether it is new. */
  save(path: string, model: SaveModel): { model: ContentsModel; created: boolean } {
    const place = this.paths.resolve(path);
    if (place === this.paths.root) throw new HttpError(400, "Cannot save: the path is empty");
    const before = statSync(place, { throwIfNoEntry: false });
    const type = model.type ?? (extname(place) === ".ipynb" ? "notebook" : "file");
    if (before !== undefined && before.isDirectory() !== (type === "directory")) {
      throw new HttpError(
        400,
        `Cannot save ${path}: it is ${before.isFile() ? "not " : ""}a directory`,
      );
    }
    if (type === "directory") {
      if (before === undefined) mkdirSync(place);
    } else {
      this.#refuseStale(path, place, before, model);
      const data = this.#data(path, type, model);
      if (before !== undefined && !isWritable(place)) {
        throw new HttpError(403, `Cannot save ${path}: the file is read-only`);
      }
      if (model.chunk !== undefined && model.chunk !== 1) appendFileSync(place, data);
      else this.#write(place, data);
    }
    return {
      model: this.get(path, { content: false, type, hash: type !== "directory" }),
      created: before === undefined,
    };
  }

  #refuseStale(path: string, place: string, before: Stats | undefined, model: SaveModel): void {
    const { last_modified: time, hash } = model;
    if (before === undefined || (model.chunk !== undefined && model.chunk !== 1)) return;
    const changed =
      typeof hash === "string"
        ? createHash("sha256").update(readFileSync(place)).digest("hex") !== hash
        : typeof time === "string" && before.mtime.toISOString() !== new Date(time).toISOString();
    if (changed) {
      throw new HttpError(
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
      throw new HttpError(
        400,
        `Cannot save ${path}: type must be file, notebook or directory, got ${type}`,
      );
    }
    if (content === undefined || content === null) return "";
    if (typeof content !== "string") {
      throw new HttpError(400, `Cannot save ${path}: content must be text`);
    }
    if (format === "base64") {
      if (!base64.test(content)) throw new HttpError(400, `Cannot save ${path}: it is not base64`);
      return Buffer.from(content, "base64");
    }
    if (format !== undefined && format !== null && format !== "text") {
      throw new HttpError(400, `Cannot save ${path}: format must be text or base64, got ${format}`);
    }
    return content;
  }

  /** Makes a new empty file, notebook or folder in a folder, with a name that is free. */
  create(folder: string, type = "file", extension = ""): ContentsModel {
    this.get(folder, { type: "directory", content: false });
    if (!/^(\.[\w-]+)*$/.test(extension)) {
      throw new HttpError(400, `Cannot create a file: ext must look like .txt, got ${extension}`);
    }
    const [stem, gap, ext] =
      type === "directory"
        ? ["Untitled Folder", " ", ""]
        : type === "notebook"
          ? ["Untitled", "", ".ipynb"]
          : ["untitled", "", extension];
    const path = this.#free(Paths.tidy(folder), stem, gap, ext);
    return this.save(path, { type }).model;
  }

  #free(folder: string, stem: string, gap: string, ext: string, first = ""): string {
    for (let n = 0; ; n++) {
      const name = `${stem}${n === 0 ? first : gap + String(n)}${ext}`;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (!existsSync(this.paths.resolve(path))) return path;
    }
  }

  /** Copies a file or notebook into a folder; the copy of a copy does not pile up names. */
  copy(from: string, folder: string): ContentsModel {
    const source = this.get(from, { content: false });
    if (source.type === "directory")
      throw new HttpError(400, `Cannot copy ${from}: it is a directory`);
    this.get(folder, { type: "directory", content: false });
    const ext = extname(source.name);
    const stem = basename(source.name, ext).replace(/-Copy\d*$/, "");
    const here = Paths.tidy(folder);
    const taken = existsSync(
      this.paths.resolve(here === "" ? source.name : `${here}/${source.name}`),
    );
    const path = taken
      ? this.#free(here, `${stem}-Copy`, "", ext, "1")
      : here === ""
        ? source.name
        : `${here}/${source.name}`;
    cpSync(this.paths.resolve(from), this.paths.resolve(path), {
      errorOnExist: true,
      force: false,
    });
    return this.get(path, { content: false });
  }

  /** Renames or moves; never over something. */
  rename(path: string, to: string): ContentsModel {
    const from = this.paths.resolve(path);
    const target = this.paths.resolve(to);
    if (from === this.paths.root || target === this.paths.root) {
      throw new HttpError(400, "Cannot rename: the path is empty");
    }
    this.#status(path, from);
    if (from !== target) {
      if (existsSync(target) && statSync(from).ino !== statSync(target).ino) {
        throw new HttpError(409, `Cannot rename ${path}: ${to} already exists`);
      }
      renameSync(from, target);
      this.checkpoints.move(from, target);
    }
    return this.get(to, { content: false });
  }

  /** Deletes a file or an empty folder. */
  delete(path: string): void {
    const place = this.paths.resolve(path);
    if (place === this.paths.root) throw new HttpError(400, "Cannot delete: the path is empty");
    const status = this.#status(path, place);
    if (status.isDirectory()) {
      const left = readdirSync(place).filter((name) => name !== ".ipynb_checkpoints");
      if (left.length > 0) throw new HttpError(400, `Cannot delete ${path}: it is not empty`);
      rmSync(join(place, ".ipynb_checkpoints"), { recursive: true, force: true });
      rmdirSync(place);
    } else {
      rmSync(place);
      this.checkpoints.remove(place);
    }
  }

  /** The folder a kernel for a document should run in. */
  folderOf(path: string): string {
    try {
      const place = this.paths.resolve(path);
      const folder = statSync(place, { throwIfNoEntry: false })?.isDirectory()
        ? place
        : dirname(place);
      return existsSync(folder) ? folder : this.paths.root;
    } catch (error) {
      if (error instanceof HttpError) return this.paths.root; // consoles have paths that are no files
      throw error;
    }
  }
}
