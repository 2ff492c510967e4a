import { checkArguments } from "../../../common/options/check-arguments.js";

/** What a judge is asked about one prediction. */
export interface JudgeQuestion {
  question: string;
  /** The labelled answer, or a list of which any counts. */
  answer: unknown;
  prediction: string;
}

/** The reference's question to the judge, word for word. */
export function judgePrompt(asked: JudgeQuestion): string {
  checkArguments(
    "ask a judge",
    { asked },
    { asked: { question: "text", answer: "text", prediction: "text" } },
  );
  const { question, answer, prediction } = asked;
  if (answer === undefined || answer === null) {
    throw new TypeError(
      "Cannot ask the judge: the question must have a golden answer, got none; a judge with a prompt of its own can do without",
    );
  }
  const golden = typeof answer === "string" ? answer : JSON.stringify(answer);
  return `Given a Question and its Golden Answer, verify whether the Predicted Answer is correct. The prediction is correct if it fully aligns with the meaning and key information of the Golden Answer. Respond with "Correct" if the prediction is correct and "Incorrect" otherwise.
Golden Answer may have multiple options, and matching any one of them is considered correct.

Question: ${question}
Golden Answer: ${golden}
Predicted Answer: ${prediction}
`;
}
