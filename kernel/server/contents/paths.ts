import {
  existsSync,
  isLinkSync,
  mkdirSync,
  realpathSync,
  statIfThereSync,
  syncFolderSync,
} from "#platform/files";
import { type HeldFolder, holdFolder } from "#platform/held-folder";
import { system } from "#platform/process";
import { dirname, join, relative, sep } from "#platform/path";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { Place } from "./place.js";

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? "";

const outside = (path: string): ErrorResponse =>
  new ErrorResponse(404, `Cannot use path ${JSON.stringify(path)}: it leads outside`);
const hidden = (path: string): ErrorResponse =>
  new ErrorResponse(404, `Cannot use path ${JSON.stringify(path)}: it is hidden`);

/** The names in an API path; refuses what leads outside and what is hidden. */
export function segmentsOf(path: string): string[] {
  const segments = path.split("/").filter((part) => part !== "");
  for (const part of segments) {
    const odd = part.includes("\0") || (system === "win32" && /[\\:]/.test(part));
    if (part === "." || part === ".." || odd) {
      throw new ErrorResponse(400, `Cannot use path ${JSON.stringify(path)}: it must stay inside`);
    }
    if (part.startsWith(".")) throw hidden(path);
  }
  return segments;
}

/** Whether a link at the end of a path stands for what it leads to, or for itself. */
type Follow = "target" | "link";

/**
 * From the paths of the API to those of the file system, all below one folder. Whatever is done to a
 * file is done through `use`: it alone decides where a path leads, and holds the folder it leads to.
 */
export class Paths {
  readonly root: string;
  readonly #hold: (path: string) => HeldFolder;

  constructor(folder: string, hold: (path: string) => HeldFolder = holdFolder) {
    this.root = realpathSync(folder);
    this.#hold = hold;
  }

  /** The real names from the root to a path's place. Links that lead outside, or to what is hidden, are refused. */
  #names(path: string, follow: Follow): string[] {
    const segments = segmentsOf(path);
    const full = join(this.root, ...segments);
    const lead = (real: string): string[] => {
      const from = relative(this.root, real);
      const names = from === "" ? [] : from.split(sep);
      // Another drive of Windows has no way from here.
      if (names[0] === ".." || join(this.root, ...names) !== real) throw outside(path);
      if (names.some((name) => name.startsWith("."))) throw hidden(path);
      return names;
    };
    let target: string[] | undefined;
    try {
      target = lead(realpathSync(full));
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || segments.length === 0) throw error;
      // A link to where nothing is yet would be written through.
      if (isLinkSync(full)) throw outside(path);
    }
    if (target !== undefined && (follow === "target" || segments.length === 0)) return target;
    return [...lead(realpathSync(dirname(full))), segments.at(-1)!];
  }

  /** Does something at the place of an API path, in its folder, which is held open for as long. */
  async use<T>(path: string, follow: Follow, act: (place: Place) => Promise<T>): Promise<T> {
    const names = this.#names(path, follow);
    const name = names.pop() ?? ".";
    return await this.#in(names, path, async (folder) => await act(new Place(folder, name, path)));
  }

  /** Does something in the folder of an API path, which is held open for as long. */
  async useFolder<T>(path: string, act: (folder: HeldFolder) => Promise<T>): Promise<T> {
    return await this.#in(this.#names(path, "target"), path, act);
  }

  async #in<T>(names: string[], path: string, act: (folder: HeldFolder) => Promise<T>): Promise<T> {
    let folder = this.#hold(this.root);
    try {
      for (const name of names) {
        const inner = folder.folder(name);
        folder.close();
        folder = inner;
      }
      const done = await act(folder);
      folder.check();
      return done;
    } catch (error) {
      // A folder became a link meanwhile, or is no folder.
      if (codeOf(error) === "ELOOP") throw outside(path);
      const shown = join(this.root, ...names);
      if (error instanceof Error) error.message = error.message.replaceAll(folder.path, shown);
      throw error;
    } finally {
      folder.close();
    }
  }

  /** The folder a kernel for a document should run in. */
  folderOf(path: string): string {
    try {
      const place = join(this.root, ...this.#names(path, "target"));
      const folder = statIfThereSync(place)?.isDirectory() ? place : dirname(place);
      return existsSync(folder) ? folder : this.root;
    } catch (error) {
      // Consoles have paths that are no files.
      if (error instanceof ErrorResponse || /^ENO(ENT|TDIR)$/.test(codeOf(error))) return this.root;
      throw error;
    }
  }

  /** The API path of a place, in its one spelling. */
  static tidy(path: string): string {
    return segmentsOf(path).join("/");
  }
}

/** A folder of that name in a held one, made where it is missing. A link of that name is refused. */
export function innerFolder(folder: HeldFolder, name: string, make: boolean): HeldFolder {
  try {
    if (make) {
      mkdirSync(`${folder.path}/${name}`);
      syncFolderSync(folder.path);
    }
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  return folder.folder(name);
}
