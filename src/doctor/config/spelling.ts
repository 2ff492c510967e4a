import { spellingProblem } from "../../tasks/unspelled-words.js";
import { findings } from "../check.js";
import type { Rule } from "./context.js";

/** Whether the model has tokens for the task's words. */
export const spelling: Rule = function* ({ train, tokenizer }) {
  const problem = tokenizer && train && spellingProblem(tokenizer, train);
  if (problem) yield findings("rewards").warning("words-unknown", problem.found, problem.fix);
};
