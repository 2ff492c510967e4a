/** The lab's server (`arpo-lab/kernel/server`). */
export { LabServer, type LabOptions } from "./lab-server.js";
export { ErrorResponse } from "../../http-server/error-response.js";
