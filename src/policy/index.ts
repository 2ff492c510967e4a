export type {
  FinishReason,
  GenerateOptions,
  Policy,
  Row,
  Sampling,
  Segment,
  Session,
} from "./policy.js";
