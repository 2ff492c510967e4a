import { TinkerError } from "./errors.js";
import type { TinkerClient } from "./tinker-client.js";

/** Fetches an address without following it elsewhere; the key goes to the server alone. */
async function get(
  url: string,
  headers: Readonly<Record<string, string>>,
  client: TinkerClient,
): Promise<{ bytes: Uint8Array; next?: string }> {
  const { default: axios } = await import("axios");
  const {
    status,
    data,
    headers: said,
  } = await axios.get<ArrayBuffer>(url, {
    headers,
    maxRedirects: 0,
    responseType: "arraybuffer",
    timeout: 10 * client.timeoutMs,
    validateStatus: () => true,
  });
  const next: unknown = said["location"];
  if (status >= 300 && status < 400 && typeof next === "string") {
    return { bytes: new Uint8Array(0), next: new URL(next, url).href };
  }
  if (status === 200) return { bytes: new Uint8Array(data) };
  const { protocol, host, pathname } = new URL(url);
  throw new TinkerError(
    `Cannot fetch adapters: ${protocol}//${host}${pathname} must answer with status 200, got ${status}`,
  );
}

/** The archive of a saved adapter (`tinker://RUN/…`). */
export async function downloadArchive(client: TinkerClient, path: string): Promise<Uint8Array> {
  const [, run, checkpoint] = /^tinker:\/\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (run === undefined || checkpoint === undefined) {
    throw new RangeError(`Cannot fetch adapters: path must be a tinker:// one, got ${path}`);
  }
  let url = `${client.url}/api/v1/training_runs/${run}/checkpoints/${checkpoint}/archive`;
  for (let hop = 0; hop < 5; hop++) {
    const own = new URL(url).origin === new URL(client.url).origin;
    const { bytes, next } = await get(url, own ? client.headers : {}, client);
    if (next === undefined) return bytes;
    url = next;
  }
  throw new TinkerError(
    "Cannot fetch adapters: the server must give the archive, got redirects only",
  );
}

async function unzipped(archive: Uint8Array): Promise<Uint8Array> {
  const packed = archive[0] === 0x1f && archive[1] === 0x8b;
  if (!packed) return archive;
  const bytes = new Blob([new Uint8Array(archive)]).stream();
  const plain = bytes.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** The plain files of a (gzipped) tar archive, by their names without folders. */
export async function filesOf(archive: Uint8Array): Promise<Map<string, Uint8Array>> {
  const tar = await unzipped(archive);
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + 512 <= tar.length;) {
    const text = (from: number, length: number) =>
      new TextDecoder("latin1")
        .decode(tar.subarray(at + from, at + from + length))
        .replace(/\0[\s\S]*$/, "");
    const name = text(0, 100);
    if (name === "") break;
    const size = parseInt(text(124, 12).trim() || "0", 8);
    const kind = text(156, 1);
    const body = tar.subarray(at + 512, at + 512 + size);
    if (kind === "0" || kind === "") files.set(name.split("/").at(-1)!, body);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
