export { connectRemote, type ConnectOptions } from "./connect.js";
export type { Dialect, RemoteApi } from "./dialect.js";
export { Endpoints, type EndpointHealth, type EndpointOptions } from "../../http/index.js";
export { RemotePolicy, type RemotePolicyOptions } from "./remote-policy.js";
