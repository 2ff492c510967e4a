export { HttpError, isAxiosError, requestJson, type JsonRequest } from "./request-json.js";
