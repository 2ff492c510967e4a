/**
 * Seconds that two things take: the fastest of a few runs, the two alternating, which is what a busy machine
 * disturbs least. The first rounds only warm up.
 */
export async function beside(
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  { runs = 11, warmUps = 0 } = {},
): Promise<[number, number]> {
  const fastest: [number, number] = [Infinity, Infinity];
  for (let i = -warmUps; i < runs; i++) {
    for (const [k, run] of [ours, theirs].entries()) {
      const start = performance.now();
      await run();
      if (i >= 0) fastest[k] = Math.min(fastest[k]!, (performance.now() - start) / 1000);
    }
  }
  return fastest;
}
