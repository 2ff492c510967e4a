import type { TokenRule } from "./rule.js";

/** GPG: every token has the weight 1. */
export const gpg: TokenRule = {
  token: ({ ratio, advantage, logprob }) => ({
    ...{ ratio, region: "inside", used: advantage, weight: 1 },
    loss: -advantage * logprob,
  }),
};
