import { checkArguments } from "../arguments/check-arguments.js";
import type { Model } from "../model/transformer/transformer.js";
import { ModelTrainee } from "./model-trainee.js";
import type { StepSettings } from "./model-optimizer.js";
import type { Trainee } from "./trainee.js";

/** Something that can be trained: it has its model here, or its trainee elsewhere. */
export type Trainable = { readonly model: Model } | { readonly trainee: Trainee };

const isTrainee = (value: unknown): value is Trainee =>
  typeof value === "object" && value !== null && "measure" in value && "step" in value;

/** What an update works on: a trainee as it is, a model with an optimiser. */
export function traineeOf(trained: Model | Trainee, settings: StepSettings): Trainee {
  if (isTrainee(trained)) return trained;
  checkArguments("update", { model: trained }, { model: "model" });
  return new ModelTrainee(trained, settings);
}

/** What of a policy is trained. */
export function trainedOf(policy: Trainable): Model | Trainee {
  return "trainee" in policy ? policy.trainee : policy.model;
}
