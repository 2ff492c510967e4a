/** Policies: what writes tokens, in this process or at an endpoint. */

// A policy, wherever it runs
export { Policy } from "../policy/policies.js";
export type {
  PolicyOptions,
  ModelPolicy,
  ModelPolicyOptions,
} from "../policy/policy-from-model.js";

// At an endpoint
export { RemotePolicy } from "../policy/remote/remote-policy.js";
export type { ConnectOptions } from "../policy/remote/connect.js";
export { HttpError } from "../base/http/request-json.js";

// What policies have in common: sessions, sampling, segments
export type {
  Session,
  GenerateOptions,
  Sampling,
  Sampler,
  Constraint,
  Sequence,
  Segment,
  GeneratedToken,
} from "../policy/policy.js";

export { jsonConstraint } from "../policy/structured/json-constraint.js";
export type { JsonSchema } from "../policy/structured/schema-parts.js";
export type { Prompt } from "../policy/prompt.js";
export type { Generation, GenerationOptions } from "../policy/generate.js";

// Seeded draws
export { Random } from "../base/random/random.js";
