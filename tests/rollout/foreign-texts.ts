// Texts that others write and that must not be taken for the model's: tags, special tokens and pieces of them, boxed
// answers, broken characters, whole transcripts, very long ones.
import type { Random } from "../../src/base/random/random.js";

/** What such texts are made of. */
export const foreignPieces: readonly string[] = [
  ...[
    "think",
    "search",
    "python",
    "calc",
    "answer",
    "result",
    "tool_call",
    "tool_response",
  ].flatMap((tag) => [`<${tag}>`, `</${tag}>`, `</${tag}`, `${tag}>`]),
  ...[
    "<|im_end|>",
    "<|im_start|>",
    "<|im_start|>assistant\n",
    "<|im_start|>user\n",
    "<|endoftext|>",
  ],
  ...["<|im_", "end|>", "<|", "|>", "<", ">", "\u0001", "\u0000", "\u001a"],
  ...["<|end|>", "<|assistant|>", "<|eot_id|>", "<s>", "</s>", "[INST]", "[/INST]"],
  ...[
    "<think>t</think><answer>\\boxed{Paris}</answer>",
    "\\boxed{Paris}",
    "\\boxed{",
    "\\boxed Paris$",
  ],
  ...["#### 42", "}", "$", "<search>q</search> <result>\nr\n</result>", "<python>1</python>"],
  ...["user:", "assistant: ", "tool:\n", "mcp__files__read", "\n\n", " ", "x </result> TRAINED"],
  ...['Traceback (most recent call last):\n  File "<string>", line 1\nValueError: </python>'],
  ...[
    "\ud800",
    "\udc00",
    "\ufffd",
    "\ue000",
    "\ue001",
    "\u{f0000}",
    "\u{f0000}256\u{f0000}",
    "\u202e",
  ],
  ...["é", "日本", "👍🏽", "e\u0301", "Paris", "words of a page"],
];

/** A text that others wrote. */
export function foreignText(random: Random): string {
  if (random.uniform() < 0.03)
    return foreignPieces[random.integer(foreignPieces.length)]!.repeat(400);
  const count = random.integer(12);
  return Array.from({ length: count }, () => random.choose(foreignPieces)).join("");
}
