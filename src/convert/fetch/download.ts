import { open, stat } from "#platform/files";
import { HttpError } from "../../http/request-json.js";
import type { KnownFile } from "./known-models.js";

/** How a download goes. */
export interface DownloadOptions {
  signal?: AbortSignal;
  /** Ends it when nothing has come for so long. Default 60,000. */
  quietMs?: number;
  onProgress?(done: number, total: number): void;
}

/** How many bytes of a file are there already. */
const sizeOf = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/**
 * Writes what an address gives to a file. Goes on where an earlier download ended, if the server can; never
 * takes more than the file must have.
 */
export async function download(
  url: string,
  path: string,
  wanted: KnownFile,
  { signal, quietMs = 60_000, onProgress }: DownloadOptions = {},
): Promise<void> {
  let done = await sizeOf(path);
  if (done > wanted.bytes) done = 0;
  if (done === wanted.bytes) return;
  const quiet = new AbortController();
  const wake = () => setTimeout(() => quiet.abort(), quietMs);
  let waiting = wake();
  try {
    const response = await fetch(url, {
      headers: done > 0 ? { range: `bytes=${done}-` } : {},
      signal: AbortSignal.any([quiet.signal, ...(signal ? [signal] : [])]),
    });
    if (!response.ok || !response.body) {
      throw new HttpError(
        `Cannot fetch ${wanted.name}: the server must give it, got status ${response.status}`,
        response.status,
      );
    }
    if (response.status !== 206) done = 0;
    const file = await open(path, done > 0 ? "a" : "w");
    try {
      for await (const piece of response.body as AsyncIterable<Uint8Array>) {
        clearTimeout(waiting);
        waiting = wake();
        done += piece.length;
        if (done > wanted.bytes) {
          throw new RangeError(
            `Cannot fetch ${wanted.name}: it must have ${wanted.bytes} bytes, got more`,
          );
        }
        await file.writeFile(piece);
        onProgress?.(done, wanted.bytes);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RangeError || error instanceof HttpError) throw error;
    const why = quiet.signal.aborted ? `nothing for ${quietMs / 1000} s` : whyOf(error as Error);
    throw new HttpError(
      `Cannot fetch ${wanted.name}: ${new URL(url).host} must be reached, got ${why} (${done} of ${wanted.bytes} bytes are kept; the next try goes on from there)`,
    );
  } finally {
    clearTimeout(waiting);
  }
}

/** fetch() hides what happened in the cause. */
const whyOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message;
