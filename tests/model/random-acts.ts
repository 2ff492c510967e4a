import type { Decoder } from "../../src/model/decoder/decoder.js";
import type { Random } from "../../src/base/random/random.js";

/** A sequence of a decoder, and what it has been fed. */
export interface Fed {
  id: number;
  tokens: number[];
}

/**
 * Opens, forks, cuts or closes a sequence at random, in each of several decoders alike, and gives tokens to feed to
 * some of those that are left.
 */
export function actAtRandom(
  random: Random,
  rows: readonly Fed[],
  decoders: readonly [Decoder, ...Decoder[]],
  shape: { contextLength: number; vocabSize: number },
): { rows: Fed[]; part: Fed[]; parts: (readonly [number, number[]])[] } {
  const inEach = (act: (decoder: Decoder) => number): number => decoders.map(act)[0]!;
  let left = [...rows];
  const act = random.integer(10);
  const some = rows.length > 0 ? random.choose(rows) : undefined;
  if (!some || (act < 2 && rows.length < 8)) {
    left.push({ id: inEach((decoder) => decoder.open()), tokens: [] });
  } else if (act < 5 && rows.length < 12) {
    left.push({ id: inEach((decoder) => decoder.fork(some.id)), tokens: [...some.tokens] });
  } else if (act < 6) {
    some.tokens.length = random.integer(some.tokens.length + 1);
    for (const decoder of decoders) decoder.truncate(some.id, some.tokens.length);
  } else if (act < 7) {
    for (const decoder of decoders) decoder.close(some.id);
    left = left.filter((row) => row !== some);
  }
  const part = left.filter(
    (row) => row.tokens.length < shape.contextLength - 30 && random.uniform() < 0.7,
  );
  const parts = part.map((row) => {
    const count = random.choose([1, 1, 1, 3, 20]);
    const tokens = Array.from({ length: count }, () => random.integer(shape.vocabSize));
    row.tokens.push(...tokens);
    return [row.id, tokens] as const;
  });
  return { rows: left, part, parts };
}
