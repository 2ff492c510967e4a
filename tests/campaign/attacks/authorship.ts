// Texts of others that look like the model's.
import { checkDemonstration, checkTrajectory, tokenizers } from "../../rollout/authorship-cases.js";
import type { Area } from "../attempt.js";

const each = 10;

export const authorship: Area = {
  name: "authorship",
  share: 8,
  seconds: 60,
  make: (random) => {
    const name = random.choose(Object.keys(tokenizers));
    return {
      name: `${each} trajectories and demonstrations among texts of others, ${name}, ${random.integer(1e9)}`,
      promise: "mask, labels, tokens and score of the same model text stay",
      run: async () => {
        for (let i = 0; i < each; i++) {
          await checkTrajectory(tokenizers[name]!, random.split(i), i % 5 === 0);
          checkDemonstration(tokenizers[name]!, random.split(`demonstration ${i}`));
        }
        return `${2 * each} cases`;
      },
    };
  },
};
