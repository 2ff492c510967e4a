import type { Captured } from "./capture-session.js";
import { leavesOf, partsOf } from "./trees-of-sessions.js";

/** A session as OpenEnv's capture server records one, with entropies beside the log-probs. */
export function rolloutRecord({ id, group, task, calls, reward }: Captured): object {
  const sequences = leavesOf(calls).map((leaf) => {
    const { prompt } = calls[leaf.root]!;
    const parts = partsOf(calls, leaf);
    const trajectory = {
      input_ids: [...prompt],
      loss_mask: Array.from(prompt, () => 0),
      logprobs: Array.from(prompt, () => 0),
      entropies: Array.from(prompt, () => 0),
    };
    const turns: number[] = [];
    for (const { by, tokens, logprobs, entropies, support } of parts) {
      const zeros = tokens!.map(() => 0);
      const own = by === "model";
      trajectory.input_ids.push(...tokens!);
      trajectory.loss_mask.push(
        ...(own ? zeros.map((_, t) => 1 - (support?.given?.[t] ?? 0)) : zeros),
      );
      trajectory.logprobs.push(...(own ? (logprobs as number[]) : zeros));
      trajectory.entropies.push(...(own ? (entropies as number[]) : zeros));
      if (own) turns.push(tokens!.length);
    }
    // What a constraint alone left is no choice of the model's.
    const n_trainable = trajectory.loss_mask.reduce((sum, one) => sum + one, 0);
    return {
      ...{ role: "agent", prompt_len: prompt.length, n_turns: turns.length, n_trainable },
      ...{ turn_lengths: turns, ...trajectory },
    };
  });
  return { session_id: id, group, metadata: task, reward: reward ?? null, sequences };
}
