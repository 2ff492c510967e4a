/** What to do with a prompt that is too long. */
export const truncations = ["error", "left", "right", "middle"] as const;
export type Truncation = (typeof truncations)[number];

/**
 * A prompt's tokens cut to a length: from the left (keeping the end), the right or the middle, or an
 * error.
 */
export function fitPrompt(
  tokens: readonly number[],
  maxLength: number,
  truncation: Truncation,
): number[] {
  if (tokens.length <= maxLength) return [...tokens];
  switch (truncation) {
    case "left":
      return tokens.slice(-maxLength);
    case "right":
      return tokens.slice(0, maxLength);
    case "middle": {
      const head = Math.floor(maxLength / 2);
      return [...tokens.slice(0, head), ...tokens.slice(tokens.length - (maxLength - head))];
    }
    case "error":
      throw new RangeError(
        `Cannot use a prompt: it must have at most ${maxLength} tokens, got ${tokens.length}`,
      );
  }
}
