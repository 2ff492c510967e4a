import { wait } from "#platform/process";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  millisecondsOrNone,
} from "../../../common/options/check-options.js";
import { HttpError } from "../../base/http/request-json.js";
import type { SearchProvider } from "./provider.js";
import type { SearchCache } from "./search-cache.js";

/** A provider behind a cache, asked again after a pause when a search could not be made. */
export function steady(
  provider: SearchProvider,
  options: { cache?: SearchCache; attempts?: number; waitMs?: number } = {},
): SearchProvider {
  checkArguments("repeat searches", { provider }, { provider: "object" });
  checkOptions("repeat searches", options, {
    cache: "object?",
    attempts: integer(1),
    waitMs: millisecondsOrNone,
  });
  const { cache, attempts = 3, waitMs = 5000 } = options;
  return {
    name: provider.name,
    search: async (query, call) => {
      const known = cache?.get(query)?.hits;
      if (known) return known;
      for (let attempt = 1; ; attempt++) {
        try {
          const hits = await provider.search(query, call);
          cache?.set(query, { hits, at: Date.now() });
          return hits;
        } catch (error) {
          const hopeless = error instanceof HttpError && !error.retry;
          if (hopeless || attempt >= attempts || call?.signal?.aborted) throw error;
          await wait(waitMs, call?.signal);
        }
      }
    },
    dispose: async () => {
      cache?.close();
      await provider.dispose?.();
    },
  };
}

/** A provider asked at most `perSecond` times a second, evenly; who comes early waits. */
export function paced(provider: SearchProvider, perSecond = 32): SearchProvider {
  checkArguments(
    "pace searches",
    { provider, perSecond },
    { provider: "object", perSecond: "number" },
  );
  if (!(perSecond > 0 && Number.isFinite(perSecond))) {
    throw new RangeError(
      `Cannot pace ${provider.name}: perSecond must be a positive number, got ${perSecond}`,
    );
  }
  let next = 0;
  return {
    name: provider.name,
    search: async (query, call) => {
      const now = performance.now();
      const turn = Math.max(now, next);
      next = turn + 1000 / perSecond;
      if (turn > now) await wait(turn - now, call?.signal);
      return provider.search(query, call);
    },
    dispose: () => provider.dispose?.(),
  };
}
