import { environment } from "#platform/process";
import { checkArguments, shown } from "../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  type OptionRule,
  type OptionRules,
} from "../../common/options/check-options.js";
import { requestJson, shownUrl } from "../base/http/request-json.js";
import type { ToolCall, ToolResult } from "../tools/tool.js";
import type { Environment, EnvironmentSource, EnvironmentStart } from "./environment.js";
import { isRecord } from "../../common/options/is-record.js";

export interface HttpEnvironmentOptions {
  /** What the model may call: a description by tag. Each becomes a step. */
  tools: Readonly<Record<string, string>>;
  /** What it is called in errors and trees. Default: the server's address. */
  name?: string;
  /**
   * Name of the environment variable that holds a token, sent as `Authorization: Bearer`. Default:
   * no token is sent.
   */
  tokenEnv?: string;
  /** For one request, its whole answer included. Default 30,000. */
  timeoutMs?: number;
  /** Bytes an answer may have. Default 1 MiB. */
  maxBytes?: number;
  /** What is sent as `action` of a step. Default: `{ tool, input }`. */
  action?: (tag: string, input: string) => unknown;
}

/** Timers count in 31 bits. */
const positive31: OptionRule = {
  must: "a positive integer below 2^31",
  holds: integer(1, 2 ** 31 - 1).holds,
  number: true,
};

const rules: OptionRules<HttpEnvironmentOptions> = {
  tools: "object",
  name: "text?",
  tokenEnv: "text?",
  timeoutMs: positive31,
  maxBytes: positive31,
  action: "function?",
};

/** What the server answers to a reset and to a step. */
interface Answer {
  observation?: unknown;
  reward?: unknown;
  done?: unknown;
  session?: unknown;
  episode_id?: unknown;
}

/**
 * An environment that a server acts out, with `POST url/reset`, `/step` and `/close` in JSON. A reset is sent `{ task, seed }` and answers `{ observation, session }`
 * (or `episode_id`); a step is sent `{ session, action }` and answers `{ observation, reward, done }`; a
 * close is sent `{ session }`. An observation is text, or an object whose `text` or `message` is shown, or
 * else its JSON. Branches take their calls again in a session of their own, so the server must draw from
 * the seed alone. A server that gives no session is refused: its steps would not remember each other, as
 * with the HTTP interface of OpenEnv. No request is repeated and no redirect followed; the token comes from the environment
 * variable only.
 *
 * @param url the address below which `/reset`, `/step` and `/close` are
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createServer } from "node:http";
 * import { httpEnvironment } from "arpo-lab/tools";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const answers = { "/reset": { session: "s1", observation: "A door." }, "/close": {} };
 * const step = { observation: "It opens.", reward: 1, done: true };
 * const server = createServer((request, response) => {
 *   response.end(JSON.stringify({ "/step": step, ...answers }[request.url!]));
 * }).listen(0, "127.0.0.1");
 * await new Promise((listening) => server.once("listening", listening));
 * const { port } = server.address() as { port: number };
 *
 * const environment = httpEnvironment(`http://127.0.0.1:${port}`, { tools: { use: "Uses a thing." } });
 * const policy = new ScriptedPolicy(() => ({ text: "<use>key</use>" }));
 * const tree = await rollout(policy, { prompt: "Get out." }, { environment });
 * assert.match(tree.prompt.text, /Get out\.\nA door\./);
 * assert.equal(tree.trajectories[0].toolCalls[0].reward, 1);
 * server.close();
 * ```
 */
export function httpEnvironment(url: string, options: HttpEnvironmentOptions): EnvironmentSource {
  checkArguments("use an environment", { url }, { url: "text" });
  checkOptions("use an environment", options, rules);
  if (!URL.canParse(url) || !["http:", "https:"].includes(new URL(url).protocol)) {
    throw new RangeError(
      `Cannot use an environment: url must be an http or https address, got ${shown(url.split("?")[0])}`,
    );
  }
  const source = () => served(url.replace(/\/$/, ""), options);
  return Object.defineProperty(source, "name", { value: options.name ?? shownUrl(url) });
}

/** One session on the server. */
function served(url: string, options: HttpEnvironmentOptions): Environment {
  const { tools, timeoutMs = 30_000, maxBytes = 2 ** 20 } = options;
  const { action = (tool: string, input: string) => ({ tool, input }) } = options;
  let session: unknown;
  let over = false;

  const ask = async (path: "reset" | "step" | "close", body: object, signal?: AbortSignal) => {
    const answer = await requestJson(`${path} the environment`, {
      ...{ method: "POST", url: `${url}/${path}`, headers: headersOf(options), body },
      ...{ timeoutMs, maxBytes, redirects: false },
      signal,
    });
    if (isRecord(answer)) {
      return answer as Answer;
    }
    throw new TypeError(
      `Cannot ${path} the environment: ${shownUrl(url)} must answer with an object, got ${shown(answer)}`,
    );
  };

  const step =
    (tag: string) =>
    async (input: string, { signal }: ToolCall): Promise<ToolResult> => {
      const answer = await ask("step", { session, action: action(tag, input) }, signal);
      over = answer.done === true;
      const { reward } = answer;
      return {
        text: textOf(answer.observation),
        ok: true,
        ...(reward === undefined || reward === null ? {} : { reward: Number(reward) }),
      };
    };

  const environment: Environment = {
    tools,
    async reset(task: unknown, { random, signal }: EnvironmentStart) {
      const answer = await ask("reset", { task, seed: random.integer(2 ** 31) }, signal);
      session = answer.session ?? answer.episode_id ?? undefined;
      if (session === undefined) {
        throw new TypeError(
          `Cannot reset the environment: ${shownUrl(url)} must answer with a session or an episode_id, got neither: its steps would act in a world that others share, or in a new one each time, as those of OpenEnv do over HTTP: use openEnv for an OpenEnv server`,
        );
      }
      return textOf(answer.observation);
    },
    get done() {
      return over;
    },
    async dispose() {
      if (session !== undefined) await ask("close", { session });
    },
  };
  // Not assigned by spreading: `done` must stay a getter.
  for (const tag of Object.keys(tools)) Object.assign(environment, { [tag]: step(tag) });
  return environment;
}

function headersOf({ tokenEnv }: HttpEnvironmentOptions): Record<string, string> {
  if (tokenEnv === undefined) return {};
  const token = environment[tokenEnv];
  if (token) return { Authorization: `Bearer ${token}` };
  throw new Error(
    `Cannot use an environment: the environment variable ${tokenEnv} must hold a token, got none`,
  );
}

function textOf(observation: unknown): string {
  if (observation === undefined || observation === null) return "";
  if (typeof observation === "string") return observation;
  const { text, message } = observation as { text?: unknown; message?: unknown };
  const said = text ?? message;
  return typeof said === "string" ? said : JSON.stringify(observation);
}
