export {
  HttpError,
  isAxiosError,
  requestJson,
  type HttpFault,
  type JsonRequest,
} from "./request-json.js";
