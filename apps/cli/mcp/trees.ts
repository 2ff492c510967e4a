import { stat } from "node:fs/promises";
import { importRollouts } from "../../../src/formats/import-rollouts.js";
import type { ImportedRollouts } from "../../../src/formats/imported-rollouts.js";
import { type AskTold, tell } from "../../../src/base/show/told.js";
import type { ToolContext } from "./definition.js";
import { fileIn } from "./folder-files.js";

/** Trajectories of a file that are read, and how long that may take, in milliseconds. */
const [mostRows, longestRead] = [4000, 30_000];

/** A file that was read last: questions about one come one after another. */
let last: { key: string; imported: Promise<ImportedRollouts> } | undefined;

async function imported(context: ToolContext, path: string): Promise<ImportedRollouts> {
  const place = await fileIn(context.lab.lab.folder, path);
  const status = await stat(place);
  if (!status.isFile()) {
    throw new RangeError(
      `Cannot read trees: the source must be a file or a notebook, got the folder ${path}; list_trees without a source names files`,
    );
  }
  const key = `${place} ${status.size} ${status.mtimeMs}`;
  if (last?.key !== key) {
    const signal = AbortSignal.timeout(longestRead);
    const reading = importRollouts(place, { rows: mostRows, signal });
    reading.catch(() => (last = undefined));
    last = { key, imported: reading };
  }
  return await last.imported;
}

/** Where trees are: a notebook's value, or a file. */
export interface TreePlace {
  source: string;
  /** A variable of the notebook's session. */
  name?: string;
  /** The tree's place among those of the value, or of the file. */
  index: number;
}

const rule =
  "a tree must be NOTEBOOK.ipynb#VARIABLE, NOTEBOOK.ipynb#VARIABLE/NUMBER or FILE#NUMBER, as list_trees says";

/** Reads a tree's id. */
export function treePlace(id: string): TreePlace {
  const at = id.lastIndexOf("#");
  const [source, rest] = at < 0 ? [id, "0"] : [id.slice(0, at), id.slice(at + 1)];
  const isNotebook = source.endsWith(".ipynb");
  const found = isNotebook
    ? /^([\p{ID_Start}$_][\p{ID_Continue}$]{0,100})(?:\/(\d{1,6}))?$/u.exec(rest)
    : /^()(\d{1,6})$/.exec(rest);
  if (found === null)
    throw new RangeError(`Cannot find the tree: ${rule}, got ${id.slice(0, 100)}`);
  const [, name = "", number = "0"] = found;
  return { source, ...(name !== "" && { name }), index: Number(number) };
}

/** A question about trees, wherever they are. */
export async function askTrees(
  context: ToolContext,
  { source, name, index }: TreePlace,
  ask: AskTold,
): Promise<Record<string, unknown>> {
  const asked = ask.what === "trees" ? ask : { ...ask, tree: index };
  if (name === undefined) return tell(await imported(context, source), asked);
  const { told, fault } = await context.lab.post("tell", { notebook: source, name, ask: asked });
  if (typeof fault === "string") throw new Error(fault);
  return told as Record<string, unknown>;
}
