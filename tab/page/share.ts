// A small notebook as a link: its cells, compressed, in the part of the address that no server is told.

/** What most places that take a link still take whole. */
const longest = 30_000;
const mark = "#notebook=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream) {
  const whole = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair);
  return new Uint8Array(await new Response(whole).arrayBuffer());
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
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const link = `${base}${mark}${toLetters(packed)}`;
  if (link.length <= longest) return link;
  throw new RangeError(
    `Cannot share ${name} as a link: it must have at most ${longest} letters, got ${link.length}; download it instead`,
  );
}

/** The notebook in an address, as nbformat has it; undefined where there is none. */
export async function sharedNotebook(
  hash: string,
): Promise<{ name: string; notebook: object } | undefined> {
  if (!hash.startsWith(mark)) return undefined;
  const bytes = await through(
    fromLetters(hash.slice(mark.length)),
    new DecompressionStream("deflate-raw"),
  );
  const [name, cells] = JSON.parse(new TextDecoder().decode(bytes)) as Shared;
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
