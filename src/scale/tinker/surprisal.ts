/** The surprisal of tokens, an estimate of their distributions' entropies without bias. */
export const surprisals = (logprobs: Float32Array): Float32Array => logprobs.map((p) => -p);
