/** The lab's server (`arpo-lab/kernel/server`). */
export { LabServer, type LabOptions } from "./lab-server.js";
export { HttpError } from "../../http-server/http-error.js";
