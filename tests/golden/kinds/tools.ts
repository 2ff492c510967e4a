import {
  brightDataHits,
  brightDataRequest,
  cacheKey,
} from "../../../src/tools/search/bright-data.js";
import { formatHits } from "../../../src/tools/search/provider.js";
import { pyodidePool } from "../../../src/tools/python/pyodide-python.js";
import type { PythonPool } from "../../../src/tools/python/python-pool.js";
import type { Runners } from "../runner.js";

let pool: PythonPool | undefined;

export const runners: Runners = {
  python_preprocess: async ({ code }) => {
    pool ??= pyodidePool({ workers: 1 });
    const preprocessed = await pool.preprocess(code);
    const { text, ok } = await pool.run(code);
    return {
      preprocessed,
      changed: preprocessed !== code,
      ok,
      result: text,
      result_last_line: text.split("\n").at(-1),
      result_prefix: text.slice(0, "<function <lambda> at ".length),
    };
  },
  search_request: ({ query, detected_language, api_key, zone, location, timeout }) => {
    const chinese = String(detected_language).startsWith("zh");
    const request = brightDataRequest(query, { apiKey: api_key, zone, location, chinese });
    const { method, url, headers, body } = request;
    return { cache_key: cacheKey(query), method, url, headers, json: body, timeout };
  },
  search_format: ({ response, max_results, result_length }) => ({
    text: formatHits(brightDataHits(response), {
      maxResults: max_results,
      resultLength: result_length,
    }),
  }),
};
