import { utf8Text } from "#platform/bytes";
import { type FileHandle, open, readFile, syncFolder, truncate } from "#platform/files";
import { dirname } from "#platform/path";
import { makeFolder, writeFault } from "../../../common/files/durable.js";
import type { Sample } from "./sample.js";

/** Which sample it is. */
export const sampleKey = ({
  benchmark,
  turn,
  index,
}: Pick<Sample, "benchmark" | "turn" | "index">) => `${benchmark}/${turn}/${index}`;

/**
 * Finished samples, one per line in the order they were finished. A line is on disk before the next
 * is written; what a killed process or a full disk left half written is cut off.
 */
export class SampleJournal {
  /** Every finished sample, by benchmark, turn and place. */
  readonly samples: Map<string, Sample>;
  readonly #path: string;
  readonly #file: FileHandle;
  #size: number;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle, size: number, samples: Map<string, Sample>) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
    this.samples = samples;
  }

  static async open(path: string): Promise<SampleJournal> {
    await makeFolder(dirname(path));
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return new Uint8Array();
      throw error;
    });
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole < bytes.length) await truncate(path, whole);
    const samples = new Map<string, Sample>();
    for (const line of utf8Text(bytes.subarray(0, whole)).split("\n")) {
      if (line === "") continue;
      const sample = JSON.parse(line) as Sample;
      samples.set(sampleKey(sample), sample);
    }
    const file = await open(path, "a");
    await syncFolder(dirname(path)); // its name may be new
    return new SampleJournal(path, file, whole, samples);
  }

  /** Adds a sample, or replaces one that could not be made before, and waits until it is on disk. */
  async add(sample: Sample): Promise<void> {
    const line = new TextEncoder().encode(`${JSON.stringify(sample)}\n`);
    const write = this.#writing.then(async () => {
      try {
        await this.#file.appendFile(line);
        await this.#file.datasync();
        this.#size += line.length;
      } catch (error) {
        // Half a line must not become the beginning of the next one.
        await this.#file.truncate(this.#size).catch(() => undefined);
        throw writeFault(error, `save a sample in ${this.#path}`);
      }
    });
    // A failed write is told to whoever asked for it, not to the next one.
    this.#writing = write.catch(() => undefined);
    await write;
    this.samples.set(sampleKey(sample), sample);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }
}
