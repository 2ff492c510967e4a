import { Random } from "../../base/random/random.js";
import { Connection, Refusal } from "./connection.js";
import { discover, instanceOf, sharedOf } from "./acting.js";
import type { OpenEnvOptions } from "./options.js";
import { World } from "./world.js";

/** What an OpenEnv server can do, as a rollout sees it. */
interface OpenEnvCheck {
  tools: Readonly<Record<string, string>>;
  /** What the model reads after a reset. */
  reset: string;
  /** What the given calls answered, and earned. */
  calls: { tag: string; input: string; text: string; ok: boolean; reward?: number }[];
  done: boolean;
  /**
   * Whether a second session with the same seed and the same calls answered alike; the difference, if not. Undefined
   * where no call was tried and the resets were alike: that says nothing of calls.
   */
  branches?: boolean;
  difference?: string;
  /** Whether another seed begins differently. */
  seeded: boolean;
  /** Sessions at once: `1`, or `2 or more`. */
  sessions: string;
}

/** Resets an environment of an OpenEnv server twice with one seed and once with another, and takes calls in it. */
export async function checkOpenEnv(
  url: string,
  calls: readonly { tag: string; input: string }[],
  options: OpenEnvOptions = {},
): Promise<OpenEnvCheck> {
  const shared = sharedOf(url, { ...options, waitMs: options.waitMs ?? 30_000 });
  // Each world is tried alone here.
  Object.assign(shared.replays, { probes: 0, first: Promise.resolve() });
  const acting = await discover(shared, options);
  const signal = new AbortController().signal;
  const play = async (seed: number, seen: OpenEnvCheck["calls"]) => {
    const world = new World(shared);
    const made = instanceOf(world, acting, options);
    const methods = made as unknown as Record<string, (input: string, call: object) => unknown>;
    const reset = await made.reset({}, { random: Random.from(seed), signal });
    for (const { tag, input } of calls) {
      if (!(tag in acting.tools)) {
        const known = Object.keys(acting.tools).join(", ");
        throw new RangeError(
          `Cannot check: a call must be of one of the tools ${known}, got ${tag}`,
        );
      }
      const answer = (await methods[tag]!(input, { signal, timeoutMs: 30_000, attempt: 0 })) as {
        text: string;
        ok: boolean;
        reward?: number;
        error?: string;
      };
      const { ok, reward, text, error } = answer;
      const earned = reward === undefined ? {} : { reward };
      seen.push({ tag, input, text: ok ? text : (error ?? ""), ok, ...earned });
    }
    return { made, reset: String(reset), seen };
  };
  const first = await play(1, []);
  const sessions = await second(shared);
  const done = first.made.done === true;
  await first.made.dispose?.();
  const again = await play(1, []);
  await again.made.dispose?.();
  const other = await play(2, []);
  await other.made.dispose?.();
  const said = ({ reset, seen }: typeof first) => [
    reset,
    ...seen.map((call) => JSON.stringify(call)),
  ];
  const [one, two, three] = [said(first), said(again), said(other)];
  const at = one.findIndex((text, i) => text !== two[i]);
  return {
    ...{ tools: acting.tools, reset: first.reset, calls: first.seen, done },
    ...(at < 0 && calls.length === 0 ? {} : { branches: at < 0 }),
    ...(at < 0 ? {} : { difference: `${one[at]!.slice(0, 200)} | ${two[at]!.slice(0, 200)}` }),
    ...{ seeded: one.join("\n") !== three.join("\n"), sessions },
  };
}

/** Whether a second session can be had beside the first. */
async function second({ peer, sessions }: ReturnType<typeof sharedOf>): Promise<string> {
  try {
    await (await Connection.open(peer)).close();
    return "2 or more";
  } catch (error) {
    if (error instanceof Refusal && error.code === "CAPACITY_REACHED") {
      return String(error.data["max_sessions"] ?? sessions.limit);
    }
    throw error;
  }
}
