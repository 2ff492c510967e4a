export { lastBoxed, lastBoxedOrTail, unboxed } from "./boxed.js";
export { deepResearch } from "./deep-research.js";
export { normalizeAnswer, tokenF1 } from "./f1.js";
export { checkFormat, type FormatCheck } from "./format.js";
export { math } from "./math.js";
export { mathEquivalent, normalizeMath } from "./math-equivalence.js";
export { exactMatch, substringMatch } from "./qa-em.js";
export type { Judged, Score } from "./score.js";
