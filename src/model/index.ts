export type { ChatMessage, Tokenizer } from "./tokenizer.js";
