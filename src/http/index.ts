export type { EndpointOptions } from "./endpoint-options.js";
export type { EndpointHealth } from "./endpoint-state.js";
export { Endpoints, type AskOne, type EndpointRequest } from "./endpoints.js";
export {
  HttpError,
  isAxiosError,
  requestJson,
  type HttpDetails,
  type HttpFault,
  type JsonRequest,
} from "./request-json.js";
