import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { checkDemonstration, checkTrajectory, tokenizers } from "./authorship-cases.js";

const cases = 300;

/** A failure says which case it is. */
const at = (i: number, error: unknown): never => {
  throw new Error(`case ${i}: ${(error as Error).message}`, { cause: error });
};

for (const [name, one] of Object.entries(tokenizers)) {
  test(`whatever others say, mask and score of the same model text stay: ${cases} trajectories, ${name}`, async () => {
    const root = Random.from(47).split(name);
    for (let i = 0; i < cases; i++)
      await checkTrajectory(one, root.split(i), i % 5 === 0).catch((error) => at(i, error));
  });

  test(`whatever others say, the labels of the same model text stay: ${cases} demonstrations, ${name}`, () => {
    const root = Random.from(48).split(name);
    for (let i = 0; i < cases; i++) {
      try {
        checkDemonstration(one, root.split(i));
      } catch (error) {
        at(i, error);
      }
    }
  });
}
