/** What one call of a reward may take, and for whom it is made. */
export interface AnswerOptions {
  /** Names the rows: `task calc-3, row 2`. */
  place: string;
  timeoutMs: number;
  signal: AbortSignal;
}

/** The longest wait that Node's timers know. */
const longestMs = 2 ** 31 - 1;

/**
 * What a reward answers within its time; throws in the name of its rows where it throws, takes too long,
 * or is no longer wanted. What it does after that is nobody's business.
 */
export async function answerOf<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { place, timeoutMs, signal }: AnswerOptions,
): Promise<T> {
  const own = new AbortController();
  let leave = () => {};
  const ended = new Promise<never>((_, reject) => {
    const end = (error: unknown) => {
      reject(error);
      own.abort(error);
    };
    const stopped = () => end(signal.reason);
    const timer = setTimeout(
      () => {
        const seconds = timeoutMs / 1000;
        end(
          new Error(
            `Cannot score ${place}: the reward must answer within ${seconds} s, got nothing`,
          ),
        );
      },
      Math.min(timeoutMs, longestMs),
    );
    signal.addEventListener("abort", stopped, { once: true });
    leave = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stopped);
    };
  });
  const answer = call(own.signal).catch((error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    // What we found wrong with an answer speaks for itself.
    const words =
      /^the (reward (of a group )?must give|judge must give|judge gave no verdict) /.test(said)
        ? said
        : `the reward threw ${said}`;
    throw new Error(`Cannot score ${place}: ${words}`, { cause: error });
  });
  try {
    return await Promise.race([answer, ended]);
  } finally {
    leave();
  }
}
