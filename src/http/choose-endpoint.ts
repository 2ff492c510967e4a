import type { EndpointState } from "./endpoint-state.js";

/** What there is to know of a request before an endpoint is chosen for it. */
interface Asking {
  /** How often each has failed this request. */
  failures: ReadonlyMap<EndpointState, number>;
  /** Where requests of its kind went before. */
  home: EndpointState | undefined;
}

/** A home with so much more of its width taken than another's is left for once. */
const imbalance = 0.5;

/** Those that may be asked at all: none where every one is silent, leaving or not ready. */
export function candidates(
  endpoints: readonly EndpointState[],
  now: number,
): readonly EndpointState[] {
  const there = endpoints.filter((e) => !e.silent && !e.leaving);
  const open = there.filter((e) => e.closedUntil <= now);
  const awake = open.filter((e) => e.restUntil <= now);
  return [awake, open, there].find((some) => some.length > 0) ?? [];
}

/**
 * Of the endpoints with room the one that has failed this request least often, then its home, then the
 * least busy; resting ones only when every other is resting too, and those that asked for a wait last.
 */
export function choose(
  from: readonly EndpointState[],
  { failures, home }: Asking,
): EndpointState | undefined {
  const failed = (e: EndpointState) => failures.get(e) ?? 0;
  const busy = (e: EndpointState) => e.running / e.width;
  let best: EndpointState | undefined;
  for (const e of from) {
    if (e.running >= e.width) continue;
    if (!best || failed(e) < failed(best) || (failed(e) === failed(best) && busy(e) < busy(best))) {
      best = e;
    }
  }
  if (!best || !home || !from.includes(home) || home.running >= home.width) return best;
  return failed(home) <= failed(best) && busy(home) - busy(best) <= imbalance ? home : best;
}
