export type { EndpointOptions } from "./endpoint-options.js";
export { Endpoints, type EndpointHealth, type EndpointRequest } from "./endpoints.js";
export {
  HttpError,
  isAxiosError,
  requestJson,
  type HttpFault,
  type JsonRequest,
} from "./request-json.js";
