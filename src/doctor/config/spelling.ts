import { spellingProblem } from "../../data/unspelled-words.js";
import { finding, type Rule } from "./context.js";

/** Whether the model has tokens for the task's words. */
export const spelling: Rule = ({ train, tokenizer }) => {
  const problem = tokenizer && train && spellingProblem(tokenizer, train);
  if (!problem) return [];
  return [finding("rewards")("words-unknown", "warning", problem.found, problem.fix)];
};
