import type { Policy } from "../../policy/policy.js";
import type { RolloutTreeData } from "./tree-data.js";

/** The weights that a tree was drawn from, and how. They are known in the process that drew it and in no file. */
export interface DrawnBy {
  /** The model, and its count of changes then. */
  readonly model: { readonly version: number };
  readonly version: number;
  readonly temperature: number;
}

/** By a tree's nodes, and by the log-probabilities of its trajectories. */
const known = new WeakMap<object, DrawnBy>();

/** Notes what drew a tree, where that is a model in this process. */
export function noteDrawn(
  { nodes, config }: Pick<RolloutTreeData, "nodes" | "config">,
  policy: Policy & { readonly model?: unknown },
): void {
  const model = policy.model as DrawnBy["model"] | undefined;
  if (typeof model?.version !== "number") return;
  const { temperature = 1 } = config.mode === "validate" ? config.validation : config.sampling;
  known.set(nodes, { model, version: model.version, temperature });
}

/** A trajectory's log-probabilities are of what drew its tree. */
export function noteDrawnTrajectory(
  { nodes }: Pick<RolloutTreeData, "nodes">,
  logprobs: Float32Array,
): void {
  const drawn = known.get(nodes);
  if (drawn) known.set(logprobs, drawn);
}

/** What drew a trajectory, where this process knows. */
export const drawnBy = (logprobs: Float32Array): DrawnBy | undefined => known.get(logprobs);
