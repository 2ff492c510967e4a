import type { StoredValues, WeightFile } from "./weight-file.js";

/** Maps a file into memory where the engine can; see `Engine.map`. */
export type MapFile = (path: string) => ArrayBuffer | null;

/**
 * The tensors of weight files as they lie there: float32, or the bits of bfloat16 (what is packed
 * otherwise is widened). With a mapped file nothing is copied; without, each read is one of the tensor
 * alone, by position. Either way nothing is kept here.
 */
export class StoredTensors {
  readonly #where: ReadonlyMap<string, WeightFile>;
  readonly #maps = new Map<WeightFile, ArrayBuffer | null>();

  constructor(where: ReadonlyMap<string, WeightFile>, map: MapFile | undefined) {
    this.#where = where;
    for (const file of new Set(where.values())) this.#maps.set(file, map?.(file.path) ?? null);
  }

  /** The mapped files. */
  get buffers(): ArrayBuffer[] {
    return [...this.#maps.values()].filter((map) => map !== null);
  }

  has(name: string): boolean {
    return this.#where.has(name);
  }

  readonly read = (name: string): StoredValues => {
    const file = this.#where.get(name)!;
    return file.stored(name, this.#maps.get(file)!);
  };
}
