export type {
  FinishReason,
  GeneratedToken,
  GenerateOptions,
  OpenOptions,
  ReadingRow,
  Row,
  RowLogProbs,
  Sampler,
  Sampling,
  Segment,
  Session,
} from "./policy.js";
export { LocalPolicy } from "./local-policy.js";
export type { LocalPolicyOptions } from "./local-policy.js";
export {
  RemotePolicy,
  type ConnectOptions,
  type Dialect,
  type EndpointHealth,
  type RemoteApi,
  type RemotePolicyOptions,
} from "./remote/index.js";
export { Policy } from "./policies.js";
export type { ModelPolicy, ModelPolicyOptions, PolicyOptions } from "./policy-from-model.js";
