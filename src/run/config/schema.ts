import { z } from "#zod";
import { free, kept, optionalCount, section } from "./kinds.js";
import { actor, critic, model, reference } from "./schema-actor.js";
import { customRewardFunction, data, rewardModel } from "./schema-data.js";
import { rollout } from "./schema-rollout.js";
import { algorithm, lab, trainer } from "./schema-trainer.js";

/** Every key of verl's and ARPO's configuration, and `lab` for what they have no key for. */
export const schema = z.strictObject({
  data,
  actor_rollout_ref: section({
    model,
    actor,
    ref: reference,
    rollout,
    hybrid_engine: kept(z.boolean().default(true)),
  }),
  critic,
  reward_model: rewardModel,
  custom_reward_function: customRewardFunction,
  algorithm,
  trainer,
  lab,
  ray_init: section({ num_cpus: kept(optionalCount) }),
  hydra: kept(free),
});

/** A configuration with every key present. */
export type Config = z.output<typeof schema>;
