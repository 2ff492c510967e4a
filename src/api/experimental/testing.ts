/** Policies without a model, for tests and examples. Experimental: may change in any release. */

export {
  ScriptedPolicy,
  type ScriptedText,
  type ScriptSituation,
} from "../../rollout/testing/scripted-policy.js";
export { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
export { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
