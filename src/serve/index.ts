export { PolicyServer, type ServeOptions } from "./policy-server.js";
