/** The mean over the tokens of which it is known, as a node has it; nothing where none is. */
export function meanEntropy(entropies: Float32Array): { entropy?: number } {
  const known = entropies.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return {};
  return { entropy: known.reduce((sum, value) => sum + value, 0) / known.length };
}
