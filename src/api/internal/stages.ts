/** What a stage cell uses where the session has none of its own: the tiny model and its tools. Internal. */

export { tinyModel, policy, tools } from "../../run/session-defaults.js";
