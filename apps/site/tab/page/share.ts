// A small notebook as a link: its cells, compressed, in the part of the address that no server is told.

/** What most places that take a link still take whole. */
const longest = 30_000;
const mark = "#notebook=";

/** More than any notebook of text has. */
const mostBytes = 1 << 22;

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return await new Blob(pieces).text();
    size += value.length;
    if (size > mostBytes) {
      await reader.cancel();
      throw new RangeError("Cannot open the notebook in this link: it must have at most 4 MB");
    }
    pieces.push(value);
  }
}

interface Cell {
  cell_type: string;
  source: string | string[];
  metadata?: { tags?: string[] };
}
type Shared = [name: string, cells: [type: string, source: string, ...tags: string[]][]];

const toLetters = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
const fromLetters = (letters: string) =>
  Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );

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
  const bytes = new TextEncoder().encode(JSON.stringify([name, cells] satisfies Shared));
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = await new Response(stream).arrayBuffer();
  const link = `${base}lab.html${mark}${toLetters(new Uint8Array(packed))}`;
  if (link.length <= longest) return link;
  throw new RangeError(
    `Cannot share ${name} as a link: it must have at most ${longest} letters, got ${link.length}; download it instead`,
  );
}

const isShared = (value: unknown): value is Shared =>
  Array.isArray(value) &&
  typeof value[0] === "string" &&
  Array.isArray(value[1]) &&
  value[1].every((cell) => Array.isArray(cell) && cell.every((text) => typeof text === "string"));

async function sharedCells(letters: string): Promise<Shared> {
  try {
    const value: unknown = JSON.parse(await unpacked(fromLetters(letters)));
    if (isShared(value)) return value;
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
  throw new SyntaxError(
    "Cannot open the notebook in this link: the link must be whole, and was cut or changed on its way",
  );
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
