import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  milliseconds,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { shownUrl } from "../../base/http/request-json.js";
import type { EnvironmentSource } from "../environment.js";
import type { OpenEnvOptions } from "./options.js";

const rules: OptionRules<OpenEnvOptions> = {
  tools: "object?",
  action: "function?",
  reset: "function?",
  observe: "function?",
  sessions: integer(1),
  waitMs: milliseconds,
  branch: oneOf(["replay", "none"]),
  name: "text?",
  tokenEnv: "text?",
  timeoutMs: milliseconds,
  maxBytes: integer(1, 2 ** 31 - 1),
};

/**
 * An environment of an OpenEnv server, spoken to by its WebSocket: a session is an episode. Its tools are
 * found by asking: those of an MCP environment by name, else one tool `act` with the fields of the action's
 * schema. Trajectories wait where the server has fewer sessions than trajectories. A branch is reset with
 * the same seed and takes its trajectory's calls again; where the answers differ, trajectories stop
 * branching and the rollout continues. The environment's `state` is never read.
 *
 * @param url the address of the OpenEnv server
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openEnv } from "arpo-lab/tools";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * // With a server: openenv init lamp_env && uvicorn lamp_env.server.app:app --port 8000
 * const environment = openEnv("http://127.0.0.1:1", { tools: { act: "Says something." } });
 * const policy = new ScriptedPolicy(() => ({ text: "<act>hello</act>" }));
 * await assert.rejects(
 *   rollout(policy, { prompt: "Talk." }, { environment }),
 *   /Cannot make environment http:\S+ for task 0: .*must answer, got ECONNREFUSED/,
 * );
 * ```
 */
export function openEnv(url: string, options: OpenEnvOptions = {}): EnvironmentSource {
  checkArguments("use an environment", { url }, { url: "text" });
  checkOptions("use an environment", options, rules);
  if (!URL.canParse(url) || !["http:", "https:"].includes(new URL(url).protocol)) {
    throw new RangeError(
      `Cannot use an environment: url must be an http or https address, got ${shown(url.split("?")[0])}`,
    );
  }
  let made: ReturnType<typeof begin> | undefined;
  const source = async () => {
    made ??= begin(url, options);
    try {
      const { make } = await made;
      return await make();
    } catch (error) {
      made = undefined; // A server that was not there yet is asked again.
      throw error;
    }
  };
  return Object.defineProperty(source, "name", { value: options.name ?? shownUrl(url) });
}

/** What speaks to a server is read when one is asked for. */
async function begin(url: string, options: OpenEnvOptions) {
  const { discover, instanceOf, sharedOf } = await import("./acting.js");
  const { World } = await import("./world.js");
  const shared = sharedOf(url, options);
  const { tools, action } = options;
  const given = tools && action ? { tools, action } : undefined;
  const acting = given ? Promise.resolve(given) : discover(shared, options);
  acting.catch(() => undefined); // seen by who waits for it
  return { make: async () => instanceOf(new World(shared), await acting, options) };
}
