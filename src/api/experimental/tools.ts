/** What tools are made of: Python pools, search caches of the published code, reading pages. Experimental: may change in any release. */

export { PythonPool, type PythonLimits, type PythonRun } from "../../tools/python/python-pool.js";
export { pyodidePool } from "../../tools/python/pyodide-python.js";
export {
  importJsonCache,
  exportJsonCache,
  importEvaluationCache,
  exportEvaluationCache,
} from "../../tools/search/cache-files.js";
export { evaluationKey, type CachedSearch } from "../../tools/search/search-cache.js";
export {
  brightDataRequest,
  type BrightDataRequest,
  brightDataHits,
} from "../../tools/search/bright-data.js";
export { formatHits, type FormatOptions } from "../../tools/search/provider.js";
export { bestPassage, type PassageOptions } from "../../tools/pages/best-passage.js";
export type { Passage } from "../../tools/pages/deep-search.js";
export { PageFetcher, type PageOptions } from "../../tools/pages/fetch-page.js";
export { remoteSummarizer, type SummarizerOptions } from "../../tools/pages/remote-summarizer.js";
export { htmlText } from "../../tools/pages/html-text.js";
export { paced } from "../../tools/search/steady.js";
export { steady } from "../../tools/search/steady.js";
