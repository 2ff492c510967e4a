/** What a token's ratio weighs at most in DPPO, where nobody says. */
export const dppoLargestRatio = 20;
