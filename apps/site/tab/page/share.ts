// A small notebook as a link: its cells, compressed, in the part of the address that no server is told.
import {
  brokenLink,
  linkLetters,
  longestLink,
  valueInLink,
} from "../../../../src/base/text/link-text.js";

const mark = "#notebook=";

/** More than any notebook of text has. */
const mostBytes = 1 << 22;

interface Cell {
  cell_type: string;
  source: string | string[];
  metadata?: { tags?: string[] };
}
type Shared = [name: string, cells: [type: string, source: string, ...tags: string[]][]];

/** The link to a notebook's cells, without their outputs. */
export async function shareLink(
  base: string,
  path: string,
  notebook: { cells: Cell[] },
): Promise<string> {
  const name = path.replace(/^.*\//, "");
  const cells = notebook.cells.map(({ cell_type, source, metadata }): Shared[1][number] => [
    cell_type,
    [source].flat().join(""),
    ...(metadata?.tags ?? []),
  ]);
  const packed = await linkLetters(JSON.stringify([name, cells] satisfies Shared));
  const link = `${base}lab.html${mark}${packed}`;
  if (link.length <= longestLink) return link;
  throw new RangeError(
    `Cannot share ${name} as a link: it must have at most ${longestLink} letters, got ${link.length}; download it instead`,
  );
}

const isShared = (value: unknown): value is Shared =>
  Array.isArray(value) &&
  typeof value[0] === "string" &&
  Array.isArray(value[1]) &&
  value[1].every((cell) => Array.isArray(cell) && cell.every((text) => typeof text === "string"));

async function sharedCells(letters: string): Promise<Shared> {
  const value = await valueInLink(letters, { what: "notebook", most: mostBytes });
  if (isShared(value)) return value;
  throw brokenLink("notebook");
}

/** The notebook in an address, as nbformat has it; undefined where there is none. */
export async function sharedNotebook(
  hash: string,
): Promise<{ name: string; notebook: object } | undefined> {
  if (!hash.startsWith(mark)) return undefined;
  const [name, cells] = await sharedCells(hash.slice(mark.length));
  const kernel = {
    name: "arpo-lab",
    display_name: "TypeScript (arpo-lab)",
    language: "typescript",
  };
  return {
    name: name.replace(/[^\p{L}\p{N} ._-]/gu, "").replace(/^\.+/, "") || "shared.ipynb",
    notebook: {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: kernel },
      cells: cells.map(([type, source, ...tags], at) => ({
        cell_type: ["markdown", "raw"].includes(type) ? type : "code",
        id: `shared-${at}`,
        source,
        metadata: tags.length > 0 ? { tags } : {},
        ...(["markdown", "raw"].includes(type) ? {} : { outputs: [], execution_count: null }),
      })),
    },
  };
}
