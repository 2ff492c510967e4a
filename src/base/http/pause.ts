/** Waits so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** How long to wait before an attempt is repeated: a random part, at least half, of a time that doubles. */
export const backoff = (attempt: number, { first, longest }: { first: number; longest: number }) =>
  Math.min(longest, first * 2 ** attempt) * (0.5 + Math.random() / 2);
