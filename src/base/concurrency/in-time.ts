/** The longest wait that Node's timers know. */
const longestMs = 2 ** 31 - 1;

/**
 * What work gives within its time: rejects with `late()` after that, and with the signal's reason as soon as nobody
 * wants it any more. The work goes on unheard.
 */
export async function inTime<T>(
  work: Promise<T>,
  { ms, late, signal }: { ms: number; late: () => Error; signal?: AbortSignal },
): Promise<T> {
  let leave = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    const stop = () => reject(signal?.reason as Error);
    const timer = setTimeout(() => reject(late()), Math.min(ms, longestMs));
    signal?.addEventListener("abort", stop, { once: true });
    leave = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    if (signal?.aborted) stop();
  });
  work.catch(() => undefined); // Seen below, unless nobody waits any more.
  return Promise.race([work, ended]).finally(leave);
}
