export { nearest } from "../../spelling/nearest.js";
export { blocks, type Block } from "./blocks.js";
export { callContent, toolContent } from "./call-input.js";
export { bareResultBlock, isResult, resultBlock, resultBlocks, resultIn } from "./result-block.js";
export { printable } from "./printable.js";
