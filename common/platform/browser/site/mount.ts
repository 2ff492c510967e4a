// The package's files in a tab: known from the start, fetched when somebody reads one.
import { packagePath } from "../modules.js";
import { dirname } from "../path.js";
import { MemoryFile } from "../tree/memory-file.js";
import { tree } from "../tree/own-tree.js";
import { fromPlanes, inPlanes, siteName } from "./planes.js";

/** What a site has of the package: single files, and packs of many small ones that come together. */
export interface SiteFiles {
  files: [name: string, size: number][];
  packs: { name: string; files: [name: string, size: number][] }[];
}

/** Waits for the answer: only in a worker may one. */
function fetchNow(address: URL): Uint8Array<ArrayBuffer> {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) {
    throw new Error(`Cannot read ${address}: it must be there, got status ${request.status}`);
  }
  return new Uint8Array(request.response as ArrayBuffer);
}

function put(name: string, file: MemoryFile): void {
  const path = packagePath(name);
  tree.makeFolder(dirname(path), true);
  tree.put(path, file, "open");
}

/** Puts a site's files where the lab looks for them; their addresses begin with `base`. */
export function mountSite(base: string | URL, { files, packs }: SiteFiles): void {
  for (const [name, size] of files) {
    const read = () => fetchNow(new URL(`package/${siteName(name)}`, base));
    const file = MemoryFile.remote(size, () => (inPlanes(name) ? fromPlanes(read()) : read()));
    put(name, file);
  }
  for (const pack of packs) {
    let whole: Uint8Array<ArrayBuffer> | undefined;
    const fetched = () => (whole ??= fetchNow(new URL(`package/${pack.name}`, base)));
    let at = 0;
    for (const [name, size] of pack.files) {
      const from = at;
      put(
        name,
        MemoryFile.remote(size, () => fetched().slice(from, from + size)),
      );
      at += size;
    }
  }
}
