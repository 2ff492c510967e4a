import { readFileSync } from "node:fs";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";

/** A small tokenizer with the chat template of a model family and the tokens that it uses. */
export function familyTokenizer(template: string, end: string): HfTokenizer {
  const marks = ["<|im_start|>", "<|start_header_id|>", "<|end_header_id|>"];
  const files = trainBpe(["user assistant tool_response"], {
    vocabSize: 300,
    specialTokens: ["<|endoftext|>", end, ...marks],
    addedTokens: ["<tool_call>", "</tool_call>"],
    eosToken: end,
  });
  const path = `tests/fixtures/chat-templates/${template}.jinja`;
  return new HfTokenizer({ ...files, chatTemplate: readFileSync(path, "utf8") });
}
