export { RayApi, type RayNode } from "./ray-api.js";
export { RayConnection, type RayAddress } from "./ray-connection.js";
