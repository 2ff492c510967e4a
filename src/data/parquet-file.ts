import { open, stat } from "#platform/files";
import type { AsyncBuffer } from "hyparquet";

/** A parquet file to read from, piece by piece, in Node and in a tab. */
export async function parquetFile(path: string): Promise<AsyncBuffer> {
  const { size } = await stat(path);
  return {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start));
      const file = await open(path, "r");
      try {
        let at = 0;
        while (at < bytes.length) {
          const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
          if (bytesRead === 0) break; // the file became shorter meanwhile
          at += bytesRead;
        }
        return at === bytes.length ? bytes.buffer : bytes.buffer.slice(0, at);
      } finally {
        await file.close();
      }
    },
  };
}
