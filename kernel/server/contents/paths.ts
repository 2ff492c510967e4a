import { existsSync, isLinkSync, realpathSync, statIfThereSync } from "#platform/files";
import { system } from "#platform/machine";
import { dirname, join, sep } from "#platform/path";
import { ErrorResponse } from "../../../http-server/error-response.js";

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "");
}

/** The real place of the deepest part of a path that exists; undefined for a link to nothing. */
function realAncestor(path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    try {
      return realpathSync(at);
    } catch (error) {
      if (!isMissing(error) || dirname(at) === at) throw error;
      // A link to where nothing is yet would be written through.
      if (isLinkSync(at)) return undefined;
    }
  }
}

/** The names in an API path; refuses what leads outside and what is hidden. */
export function segmentsOf(path: string): string[] {
  const segments = path.split("/").filter((part) => part !== "");
  for (const part of segments) {
    const odd = part.includes("\0") || (system === "win32" && /[\\:]/.test(part));
    if (part === "." || part === ".." || odd) {
      throw new ErrorResponse(400, `Cannot use path ${JSON.stringify(path)}: it must stay inside`);
    }
    if (part.startsWith(".")) {
      throw new ErrorResponse(404, `Cannot use path ${JSON.stringify(path)}: it is hidden`);
    }
  }
  return segments;
}

/** From the paths of the API to those of the file system, all below one folder. */
export class Paths {
  readonly root: string;

  constructor(folder: string) {
    this.root = realpathSync(folder);
  }

  /** The place of an API path. Links that lead outside the folder are refused. */
  resolve(path: string): string {
    const full = join(this.root, ...segmentsOf(path));
    const real = realAncestor(full);
    if (
      real === undefined ||
      (real !== this.root &&
        !real.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep))
    ) {
      throw new ErrorResponse(404, `Cannot use path ${JSON.stringify(path)}: it leads outside`);
    }
    return full;
  }

  /** The folder a kernel for a document should run in. */
  folderOf(path: string): string {
    try {
      const place = this.resolve(path);
      const folder = statIfThereSync(place)?.isDirectory() ? place : dirname(place);
      return existsSync(folder) ? folder : this.root;
    } catch (error) {
      if (error instanceof ErrorResponse) return this.root; // consoles have paths that are no files
      throw error;
    }
  }

  /** The API path of a place, in its one spelling. */
  static tidy(path: string): string {
    return segmentsOf(path).join("/");
  }
}
