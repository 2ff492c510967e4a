import type { Model } from "../../model/transformer/transformer.js";
import type { Config } from "../config/schema.js";

/** Whether a reference policy is kept beside the one that learns. */
export const needsReference = ({ algorithm, actor_rollout_ref: { actor } }: Config): boolean =>
  algorithm.use_kl_in_reward || (actor.use_kl_loss && actor.kl_loss_coef !== 0);

/** The policy as it is now, where KL is measured against it. */
export const referenceOf = (config: Config, model: Model): { reference?: Model } =>
  needsReference(config) ? { reference: model.lora ? model.withoutLora() : model.copy() } : {};
