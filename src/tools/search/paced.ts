import { checkArguments } from "../../arguments/check-arguments.js";
import { wait } from "#platform/turns";
import type { SearchProvider } from "./provider.js";

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
