export { checkArguments, type ArgumentKind, type ArgumentRules } from "./check-arguments.js";
export { shown } from "./shown.js";
