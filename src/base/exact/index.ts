// Functions of which engines give different last bits, where something is decided by what they give.
export { exp } from "./exp.js";
export { log } from "./log.js";
export { cos, sin } from "./sin-cos.js";
