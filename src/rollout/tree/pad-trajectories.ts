import { lossMask, responseAttention, type Trajectory } from "./trajectory.js";

/** Trajectories side by side, prompts padded on the left, responses on the right; row after row. */
interface PaddedTrajectories {
  rows: number;
  promptLength: number;
  responseLength: number;
  /** rows x promptLength. */
  prompts: Int32Array;
  /** rows x responseLength. */
  responses: Int32Array;
  /** rows x (promptLength + responseLength). */
  attention: Uint8Array;
  /** rows x (promptLength + responseLength); padding of the response goes on counting. */
  positions: Int32Array;
  /** rows x responseLength: 1 where the model wrote, 0 where a tool answered or nothing is. */
  written: Uint8Array;
  /** rows x responseLength: written and attended. */
  lossMask: Uint8Array;
}

/** Puts trajectories of any lengths into one rectangle. */
export function padTrajectories(
  trajectories: readonly Trajectory[],
  options: {
    padId: number;
    eosIds: readonly number[];
    /** Default: the longest of the batch. */
    promptLength?: number;
    responseLength?: number;
    /** As the reference: without an end token, attend to the padding as well. */
    attendPadding?: boolean;
  },
): PaddedTrajectories {
  const longest = (lengths: number[]) => Math.max(0, ...lengths);
  const P = options.promptLength ?? longest(trajectories.map((t) => t.prompt.length));
  const R = options.responseLength ?? longest(trajectories.map((t) => t.tokens.length));
  const rows = trajectories.length;
  const batch: PaddedTrajectories = {
    rows,
    promptLength: P,
    responseLength: R,
    prompts: new Int32Array(rows * P).fill(options.padId),
    responses: new Int32Array(rows * R).fill(options.padId),
    attention: new Uint8Array(rows * (P + R)),
    positions: new Int32Array(rows * (P + R)),
    written: new Uint8Array(rows * R),
    lossMask: new Uint8Array(rows * R),
  };
  for (const [i, { prompt, tokens, written }] of trajectories.entries()) {
    if (prompt.length > P || tokens.length > R) {
      throw new RangeError(
        `Cannot pad: trajectory ${i} must fit into ${P} + ${R} tokens, got ${prompt.length} + ${tokens.length}`,
      );
    }
    const pad = P - prompt.length;
    batch.prompts.set(prompt, i * P + pad);
    batch.responses.set(tokens, i * R);
    batch.written.set(written, i * R);
    const response = responseAttention(
      batch.responses.subarray(i * R, (i + 1) * R),
      options.eosIds,
      options.attendPadding ? R : tokens.length,
      written,
    );
    const row = i * (P + R);
    batch.attention.fill(1, row + pad, row + P).set(response, row + P);
    batch.lossMask.set(lossMask(batch.written.subarray(i * R, (i + 1) * R), response), i * R);
    for (let k = pad; k < P + R; k++) batch.positions[row + k] = k - pad;
  }
  return batch;
}
