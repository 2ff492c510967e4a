import { readdir, stat } from "#platform/files";
import { join, resolve, sep } from "#platform/path";
import { homePath } from "../../base/files/home-path.js";
import { readable, readableNames } from "./file-kinds.js";

/** A file that may hold rollouts. */
export interface FoundFile {
  path: string;
  bytes: number;
}

const wild = /[*?{[]/;

const pickled = /\.(?:pt|pth|pkl|pickle)$/i;
const asLines =
  "import json,sys,torch; d=torch.load(sys.argv[1],weights_only=False); " +
  'print("\\n".join(json.dumps({**s,"rollout_id":d["rollout_id"]},default=str) for s in d["samples"]))';
const unpickle = (path: string) =>
  `Cannot import rollouts from ${path}: it must be JSON, got a pickle, which can run any program when it is read. ` +
  `Where you trust it, write slime's as JSON lines: python -c '${asLines}' ${path} > ${path.replace(/\.\w+$/, ".jsonl")}`;

/** A pattern as shells have it: `*`, `?`, `{a,b}`, and `**` for any folders. */
function patternOf(glob: string): RegExp {
  const written = glob.replace(/\*\*\/?|\*|\?|\{[^{}]*\}|[\\^$.|+()[\]{}]/g, (sign) => {
    if (sign === "**/") return "(?:[^/]+/)*";
    if (sign === "**") return ".*";
    if (sign === "*") return "[^/]*";
    if (sign === "?") return "[^/]";
    if (sign.startsWith("{") && sign.endsWith("}")) {
      const choices = sign.slice(1, -1).split(",");
      return `(?:${choices.map((one) => one.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")).join("|")})`;
    }
    return `\\${sign}`;
  });
  return new RegExp(`^${written}$`);
}

/** Every file below a folder; hidden folders and links to folders are not entered. */
async function below(folder: string): Promise<string[]> {
  const names = await readdir(folder, { withFileTypes: true });
  const lists = await Promise.all(
    names
      .filter(({ name }) => !name.startsWith("."))
      .map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return below(path);
        return entry.isFile() || entry.isSymbolicLink() ? [path] : [];
      }),
  );
  return lists.flat();
}

/** By their names, numbers by their value: 2.jsonl before 10.jsonl. */
const inOrder = new Intl.Collator("en", { numeric: true });

/** Files with their sizes; what is no file any more is left out. */
async function sized(paths: readonly string[]): Promise<FoundFile[]> {
  const sorted = [...paths].sort(inOrder.compare);
  const found = await Promise.all(
    sorted.map(async (path) => {
      const told = await stat(path).catch(() => undefined);
      return told?.isFile() === true ? [{ path, bytes: told.size }] : [];
    }),
  );
  return found.flat();
}

/** The files of a path: itself, those of a folder, or those that a pattern fits. */
export async function findFiles(given: string): Promise<FoundFile[]> {
  const path = resolve(homePath(given));
  const told = await stat(path).catch(() => undefined);
  if (told?.isFile() === true && pickled.test(path)) throw new RangeError(unpickle(path));
  if (told?.isFile() === true) return [{ path, bytes: told.size }];
  if (told?.isDirectory() === true) {
    const all = await below(path);
    const found = await sized(all.filter((file) => readable.test(file)));
    if (found.length > 0) return found;
    const arrow = all.find((file) => file.endsWith(".arrow"));
    throw new RangeError(
      `Cannot import rollouts: a folder must hold ${readableNames} files, got ${path}${arrow ? `, which holds ${arrow}: write it with dataset.to_parquet` : ""}`,
    );
  }
  if (wild.test(given)) {
    const parts = path.split(sep);
    const first = parts.findIndex((part) => wild.test(part));
    const root = parts.slice(0, first).join(sep) || sep;
    const fits = patternOf(path.split(sep).join("/"));
    const all =
      (await stat(root).catch(() => undefined))?.isDirectory() === true ? await below(root) : [];
    const found = await sized(all.filter((file) => fits.test(file.split(sep).join("/"))));
    if (found.length > 0) return found;
  }
  throw new RangeError(
    `Cannot import rollouts: the path must be a file, a folder or a pattern that fits files, got ${given}`,
  );
}
