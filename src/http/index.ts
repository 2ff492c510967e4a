export { HttpError, requestJson, type JsonRequest } from "./request-json.js";
