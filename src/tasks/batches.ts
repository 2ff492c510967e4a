import { Random } from "../base/random/random.js";

/** Where a loader stands: kept in checkpoints, so that a resumed run sees what it would have seen. */
export interface LoaderState {
  epoch: number;
  /** Items of this epoch already given. */
  position: number;
}

interface LoaderOptions {
  batchSize: number;
  shuffle?: boolean;
  seed?: number;
  /** Passes over the data; unset goes on for ever. */
  epochs?: number;
  state?: LoaderState;
}

interface Batch<T> {
  items: T[];
  /** Continues behind this batch. */
  state: LoaderState;
}

/**
 * Batches of a data set, each epoch in a seeded order of its own; the last items of an epoch that fill
 * no batch are left out of it, as in the reference. Give a batch's `state` to continue behind it.
 */
export function* batches<T>(data: readonly T[], options: LoaderOptions): Generator<Batch<T>> {
  const { batchSize, shuffle = false, seed = 1, epochs = Infinity } = options;
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > data.length) {
    throw new RangeError(
      `Cannot make batches: batchSize must be from 1 to the number of items (${data.length}), got ${batchSize}`,
    );
  }
  const order = Random.from(seed).split("shuffle");
  let { epoch, position } = options.state ?? { epoch: 0, position: 0 };
  for (; epoch < epochs; epoch++, position = 0) {
    const items = shuffle ? order.split(epoch).shuffle(data) : data;
    for (; position + batchSize <= items.length;) {
      const batch = items.slice(position, position + batchSize);
      position += batchSize;
      yield { items: batch, state: { epoch, position } };
    }
  }
}
