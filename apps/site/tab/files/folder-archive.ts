// A reader's whole folder as one file, and back.
import { ZipArchive } from "../../../../src/base/files/zip-archive.js";
import { zipOfPacked, type ZippedFile } from "../../../../src/base/files/zip.js";
import { ErrorResponse } from "../../../../common/http-server/error-response.js";
import { joinBytes } from "../../../../common/platform/browser/bytes.js";
import { mkdirSync, rmSync, writeFileSync } from "../../../../common/platform/browser/files.js";
import { dirname } from "../../../../common/platform/browser/path.js";
import { tree } from "../../../../common/platform/browser/tree/own-tree.js";
import { sameBytes } from "../python/same-bytes.js";
import { home, sharedNames } from "./share-data.js";

/** What came with the site, or is the lab's own: neither is downloaded, nor put back. */
const isOurs = (name: string): boolean =>
  /(^|\/)\./.test(name) || sharedNames.includes(name.split("/")[0]!);

/** A reader's files by their names below the folder; a notebook of the site counts once it was changed. */
function ownFiles(): Map<string, Uint8Array<ArrayBuffer>> {
  const own = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const name of tree.names(home, true)) {
    const entry = tree.find(`${home}/${name}`, "stat");
    if (isOurs(name) || entry?.kind !== "file" || entry.isRemote) continue;
    const isTheSites = entry === tree.find(`/lab/${name}`, "stat") && entry.written === entry.made;
    if (!isTheSites) own.set(name, entry.all());
  }
  return own;
}

const deflated = async (data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => {
  const packed = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
};

/** A zip of a reader's files. */
export async function folderArchive(): Promise<Uint8Array> {
  const files: ZippedFile[] = [];
  for (const [name, data] of ownFiles()) files.push({ name, data, packed: await deflated(data) });
  if (files.length > 0) return zipOfPacked(files);
  throw new ErrorResponse(404, "Cannot download your files: you have changed or made none yet");
}

/**
 * Puts the files of a zip into a reader's folder, all or none; gives their names. Files that are there already and
 * differ are replaced only where that is asked for.
 */
export async function unpackFolder(zip: Uint8Array, replace: boolean): Promise<string[]> {
  const upload = "/tmp/upload.zip";
  mkdirSync(dirname(upload), { recursive: true });
  writeFileSync(upload, zip);
  const files = new Map<string, Uint8Array>();
  try {
    const archive = await ZipArchive.open(upload, { compressed: true });
    for (const entry of archive.entries.values()) {
      if (isOurs(entry.name) || entry.name.endsWith("/")) continue;
      const pieces: Uint8Array[] = [];
      for await (const piece of archive.pieces(entry)) pieces.push(piece);
      files.set(entry.name, joinBytes(pieces));
    }
    await archive.close();
  } finally {
    rmSync(upload);
  }
  if (files.size === 0)
    throw new ErrorResponse(400, "Cannot put files back: the zip must have some");
  const own = ownFiles();
  const others = [...files].filter(([name, bytes]) => {
    const there = own.get(name);
    return there !== undefined && (there.length !== bytes.length || !sameBytes(there, bytes));
  });
  if (others.length > 0 && !replace) {
    const names = others.map(([name]) => name).join(", ");
    throw new ErrorResponse(409, `Already there, and not the same: ${names}`);
  }
  for (const [name, bytes] of files) {
    mkdirSync(dirname(`${home}/${name}`), { recursive: true });
    writeFileSync(`${home}/${name}`, bytes);
  }
  return [...files.keys()];
}
