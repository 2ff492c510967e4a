/** A policy behind an endpoint that speaks OpenAI's protocol. Experimental: may change in any release. */

export { PolicyServer, type ServeOptions } from "../../interop/serve/policy-server.js";
