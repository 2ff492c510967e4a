export { TinkerError, TinkerLostAnswer, TinkerSessionOver } from "./client/errors.js";
export type { TinkerConnection } from "./client/settings.js";
export { TinkerClient, type ServerModel, type WorkCall } from "./client/tinker-client.js";
export type { TinkerLora } from "./client/tinker-run.js";
export type { TinkerOptions } from "./engine.js";
export { TinkerPolicy, type TinkerParts, type TinkerSaved } from "./tinker-policy.js";
export type { TinkerCapabilities } from "./capabilities.js";
