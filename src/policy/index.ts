export type {
  FinishReason,
  GenerateOptions,
  Policy,
  Row,
  Sampling,
  Segment,
  Session,
} from "./policy.js";
export { LocalPolicy } from "./local-policy.js";
export type { LocalPolicyOptions } from "./local-policy.js";
export {
  RemotePolicy,
  type Dialect,
  type EndpointHealth,
  type RemoteApi,
  type RemotePolicyOptions,
} from "./remote/index.js";
