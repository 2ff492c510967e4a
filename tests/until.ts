/**
 * Waits for what a test needs before it goes on, and says what did not come: never a fixed time, which is
 * too short on a busy machine and too long on any other.
 */
export async function until<T>(
  what: () => T | Promise<T>,
  why: string,
  limit = 60_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + limit;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`Cannot wait longer than ${limit / 1000} s: ${why}`);
    await new Promise((later) => setTimeout(later, 10));
  }
}
