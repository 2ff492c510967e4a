export { babbler } from "./babbler.js";
export { CodePointTokenizer } from "./code-point-tokenizer.js";
export { ScriptedPolicy, type ScriptedText, type ScriptSituation } from "./scripted-policy.js";
