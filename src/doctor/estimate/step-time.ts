import { Random } from "../../random/random.js";
import type { Policy } from "../../policy/policies.js";
import type { Sequence } from "../../policy/policy.js";

/** Tokens that each row writes while it is timed. */
const timed = 6;

/** Seconds that a policy takes to read a prompt, and for one step of so many rows behind it. */
export async function stepTimes(
  policy: Policy,
  prompt: ArrayLike<number>,
  counts: readonly number[],
): Promise<{ prompt: number; steps: number[] }> {
  const session = policy.session();
  const write = async (sequences: readonly Sequence[], maxTokens: number) => {
    const began = performance.now();
    await Promise.all(
      sequences.map((sequence, i) =>
        session.generate(sequence, { maxTokens, random: Random.from(i) }),
      ),
    );
    return (performance.now() - began) / 1000;
  };
  try {
    const root = session.open(prompt);
    const first = await write([root], 1);
    const steps: number[] = [];
    for (const count of counts) {
      const sequences = Array.from({ length: count }, () => session.fork(root));
      await write(sequences, 1);
      // A row that ends early makes its step smaller: what is left of the rows is timed again.
      steps.push((await write(sequences, timed)) / timed);
      for (const sequence of sequences) session.close(sequence);
    }
    const single = counts.length > 0 ? Math.min(...steps) : 0;
    return { prompt: Math.max(0, first - single), steps };
  } finally {
    session.dispose();
  }
}
