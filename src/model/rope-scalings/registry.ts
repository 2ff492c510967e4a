import { Registry } from "../../../common/options/registry.js";
import type { RopeScalingKind } from "./definition.js";
import { dynamic, type DynamicScaling } from "./dynamic.js";
import { linear, type LinearScaling } from "./linear.js";
import { llama3, type Llama3Scaling } from "./llama3.js";
import { longrope, type LongropeScaling } from "./longrope.js";
import { yarn, type YarnScaling } from "./yarn.js";

/** How rotary positions are stretched to a longer context; without a type it is Llama 3.1's way. */
export type RopeScaling =
  Llama3Scaling | LinearScaling | DynamicScaling | YarnScaling | LongropeScaling;

/** The ways to stretch rotary positions. */
export const ropeScalings = new Registry<RopeScalingKind<RopeScaling>>("rope scaling", [
  linear,
  dynamic,
  llama3,
  yarn,
  longrope,
]);

/** The definition of some settings' kind. */
export const scalingKind = ({ type = "llama3" }: RopeScaling): RopeScalingKind<RopeScaling> =>
  ropeScalings.of("configure a model", "ropeScaling.type", type);
