import { brightDataHits, brightDataRequest, cacheKey, formatHits } from "../../src/tools/index.js";
import type { Runners } from "./runner.js";

export const runners: Runners = {
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
