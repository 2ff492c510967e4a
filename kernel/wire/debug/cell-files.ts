import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";

const m = 0x5bd1e995;

/** MurmurHash2 of a text's UTF-8: what front ends name a cell's file by. */
export function murmur2(text: string, seed: number): number {
  const data = new TextEncoder().encode(text);
  let h = seed ^ data.length;
  let i = 0;
  for (; data.length - i >= 4; i += 4) {
    let k = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    k = Math.imul(k, m);
    k = Math.imul(k ^ (k >>> 24), m);
    h = Math.imul(h, m) ^ k;
  }
  const rest = data.length - i;
  if (rest >= 3) h ^= data[i + 2]! << 16;
  if (rest >= 2) h ^= data[i + 1]! << 8;
  if (rest >= 1) h = Math.imul(h ^ data[i]!, m);
  h = Math.imul(h ^ (h >>> 13), m);
  return (h ^ (h >>> 15)) >>> 0;
}

/** What front ends name cells by, as ipykernel has it. */
const HASH_SEED = 0xc70f6907;

/** Whether a folder of that name is there, no link, and belongs to who runs this. */
function isOwnFolder(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  const own = process.getuid === undefined || status?.uid === process.getuid();
  return status?.isDirectory() === true && own;
}

/** The files that stand for cells: a front end computes a cell's path from its text by the same rule. */
export class CellFiles {
  readonly suffix: string;
  readonly #texts = new Map<string, string>();
  /** Made when the first cell is written down: most kernels are never debugged. */
  readonly #folder = join(tmpdir(), `arpo-lab-debug-${randomUUID()}`);
  #isMade = false;

  constructor(suffix: string) {
    this.suffix = suffix;
  }

  /** What every path begins with. */
  get prefix(): string {
    return this.#folder + sep;
  }

  get hash(): { hashMethod: string; hashSeed: number } {
    return { hashMethod: "Murmur2", hashSeed: HASH_SEED };
  }

  pathOf(code: string): string {
    return `${this.prefix}${murmur2(code, HASH_SEED)}${this.suffix}`;
  }

  /** The text of a cell that was dumped or has run. */
  textOf(path: string): string | undefined {
    return this.#texts.get(path);
  }

  isCell(path: string): boolean {
    return path.startsWith(this.prefix);
  }

  /** Remembers a cell that runs. */
  add(code: string): string {
    const path = this.pathOf(code);
    this.#texts.set(path, code);
    return path;
  }

  /** Writes a cell down, for a front end that opens it as a file. */
  dump(code: string): string {
    const path = this.add(code);
    // At first it must not be there; later it may have been cleaned away, and must still be ours.
    if (!this.#isMade || !isOwnFolder(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 });
    this.#isMade = true;
    writeFileSync(path, code, { mode: 0o600 });
    return path;
  }

  close(): void {
    if (this.#isMade) rmSync(this.#folder, { recursive: true, force: true });
    this.#isMade = false;
  }
}
