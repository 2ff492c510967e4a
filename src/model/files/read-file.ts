import { type FileHandle, readFile, readSync } from "#platform/files";

const most = 1 << 30; // bytes of one call

const short = (format: string, path: string, wanted: number, from: number, got: number) =>
  new SyntaxError(
    `Cannot read ${format} ${path}: it must reach ${wanted} bytes beyond ${from}, got ${got}`,
  );

/** A file that is read by position. */
interface ReadFrom {
  readonly format: string;
  readonly path: string;
  readonly handle: FileHandle;
}

/** Fills a buffer from a position; one read call need not return all that was asked for. */
export async function readFully(file: ReadFrom, into: Uint8Array, from: number): Promise<void> {
  for (let done = 0; done < into.length;) {
    const length = Math.min(into.length - done, most);
    const { bytesRead } = await file.handle.read(into, done, length, from + done);
    if (bytesRead === 0) throw short(file.format, file.path, into.length, from, done);
    done += bytesRead;
  }
}

/** As {@link readFully}, without waiting: decoders ask for weights while they are made. */
export function readFullySync(file: ReadFrom, into: Uint8Array, from: number): void {
  for (let done = 0; done < into.length;) {
    const length = Math.min(into.length - done, most);
    const count = readSync(file.handle.fd, into, done, length, from + done);
    if (count === 0) throw short(file.format, file.path, into.length, from, done);
    done += count;
  }
}

/** Reads a file that must hold a JSON object; `action` says what for in the error. */
export async function readJson(path: string, action: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new RangeError(
      `Cannot ${action}: ${path} must be readable, got ${(error as NodeJS.ErrnoException).code}`,
      { cause: error },
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    throw new SyntaxError(
      `Cannot ${action}: ${path} must be JSON, got ${(error as Error).message}`,
      { cause: error },
    );
  }
  throw new SyntaxError(`Cannot ${action}: ${path} must hold an object, got ${text.slice(0, 40)}`);
}
