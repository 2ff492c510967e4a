export { Endpoints, type EndpointHealth, type EndpointOptions } from "./endpoints.js";
export {
  HttpError,
  isAxiosError,
  requestJson,
  type HttpFault,
  type JsonRequest,
} from "./request-json.js";
