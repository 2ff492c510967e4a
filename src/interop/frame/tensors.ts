// What danfojs takes for tfjs, for the pack (tools/vendor/frame.mjs): this package's, and of tfjs-data, which is not in
// it, the one chain that `sample()` calls.
import { Random } from "../../base/random/random.js";

export * from "#tfjs";

export const data = {
  array: <T>(items: readonly T[]) => ({
    shuffle: (_buffer: number, seed: string) => ({
      take: (count: number) => ({
        toArray: () => Promise.resolve(Random.from(Number(seed)).shuffle(items).slice(0, count)),
      }),
    }),
  }),
};
