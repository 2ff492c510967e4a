import { environment } from "#platform/process";
import { shown } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import { requestJson, shownUrl } from "../../base/http/request-json.js";
import {
  type ArgumentSchema,
  describeArguments,
  readArguments,
} from "../../tools/json-arguments.js";
import type { ToolCall, ToolResult } from "../../tools/tool.js";
import type { Environment, EnvironmentStart } from "../environment.js";
import type { Connection, Peer } from "./connection.js";
import type { OpenEnvOptions } from "./options.js";
import { Sessions } from "./sessions.js";
import { observed } from "./texts.js";
import type { Shared, World } from "./world.js";

type Json = Record<string, unknown>;

/** The tools of an environment, and the action that a call of one becomes, or what is wrong with the call. */
interface Acting {
  tools: Readonly<Record<string, string>>;
  action: (tag: string, input: string) => object | string;
  /** The tools that take no arguments. */
  plain?: ReadonlySet<string>;
}

/** What the worlds of a server share. */
export function sharedOf(url: string, options: OpenEnvOptions): Shared {
  const { timeoutMs = 30_000, maxBytes = 2 ** 20, waitMs = 300_000 } = options;
  const { sessions = Infinity, observe = observed, branch } = options;
  const { origin, pathname } = new URL(url);
  const base = `${origin}${pathname}`.replace(/\/$/, "");
  const peer: Peer = { url: base, headers: headersOf(options), timeoutMs, maxBytes };
  return {
    peer,
    sessions: new Sessions(peer, sessions, waitMs),
    observe,
    replays: { alike: branch === "none" ? false : undefined, calls: 0, probes: 2 },
    name: options.name ?? shownUrl(url),
  };
}

/** An instance that acts in a world. */
export function instanceOf(world: World, acting: Acting, options: OpenEnvOptions): Environment {
  const { tools, action, plain: bare } = acting;
  const act = (tag: string) => {
    const call = async (input: string, { signal }: ToolCall): Promise<ToolResult> => {
      const wanted = action(tag, input);
      if (typeof wanted === "string") return { text: wanted, ok: true };
      const { text, ok, reward } = await world.act(wanted, signal);
      return ok ? { text, ok: true, ...defined({ reward }) } : { text: "", ok: false, error: text };
    };
    // A function of no parameters is a tool of no arguments.
    return bare?.has(tag) ? (...given: Parameters<typeof call>) => call(...given) : call;
  };
  const made: Environment = {
    tools,
    ready: (signal) => world.ready(signal),
    get branches() {
      return world.branches;
    },
    async reset(task: unknown, { random, signal }: EnvironmentStart) {
      const own = options.reset?.(task) ?? (task as { reset?: unknown } | undefined)?.reset;
      const fields = typeof own === "object" && own !== null ? own : {};
      return world.reset({ ...fields, seed: random.integer(2 ** 31) }, signal);
    },
    get done() {
      return world.done;
    },
    clone: () => instanceOf(world.clone(), acting, options),
    dispose: () => world.end(),
  };
  // Not assigned by spreading: `done` must stay a getter.
  for (const tag of Object.keys(tools)) Object.assign(made, { [tag]: act(tag) });
  return made;
}

/** Asks a server what can be done in its environment. */
export async function discover(shared: Shared, options: OpenEnvOptions = {}): Promise<Acting> {
  const { peer } = shared;
  const schema = objectOf(
    await requestJson("read the schema of the environment", {
      ...{ url: `${peer.url}/schema`, headers: peer.headers, redirects: false },
      ...{ timeoutMs: peer.timeoutMs, maxBytes: peer.maxBytes },
    }),
  );
  const action = objectOf(schema["action"]);
  const fields = objectOf(action["properties"]);
  const byTool = objectOf(fields["type"])["const"] === "call_tool";
  const found = byTool ? await listed(shared) : plain(action);
  const tools = options.tools ?? found.tools;
  return { ...found, tools, action: options.action ?? found.action };
}

/** One tool with the fields of the action. */
function plain(action: Json): Acting {
  const properties = { ...objectOf(action["properties"]) };
  delete properties["metadata"];
  const required = Array.isArray(action["required"]) ? action["required"] : undefined;
  const schema = { properties, ...(required ? { required } : {}) } as ArgumentSchema;
  const { description } = action;
  const about = typeof description === "string" ? description : "Acts in the environment.";
  return {
    tools: { act: describeArguments(about.slice(0, 2000), schema) },
    action: (_tag, input) => readArguments(input, schema),
  };
}

/** The tools of an MCP environment. */
async function listed(shared: Shared): Promise<Acting> {
  const { peer, sessions } = shared;
  const holder = { idle: () => undefined, evict: () => undefined };
  const limit = AbortSignal.timeout(peer.timeoutMs);
  const connection: Connection = await sessions.take(holder, limit);
  try {
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const answer = await connection.ask("mcp", request);
    const list = objectOf(answer["result"])["tools"];
    if (!Array.isArray(list) || list.length === 0 || list.length > 1000) {
      const got = Array.isArray(list) ? list.length : shown(list);
      throw new RangeError(
        `Cannot use an environment: ${shownUrl(peer.url)} must list 1 to 1000 tools, got ${got}`,
      );
    }
    const tools: Record<string, string> = {};
    const byTag = new Map<string, { name: string; schema: ArgumentSchema }>();
    for (const one of list.map(objectOf)) {
      const name = String(one["name"]);
      const tag = name.replace(/[^\w.-]/g, "_").replace(/^[^A-Za-z_]/, "_");
      const schema = objectOf(one["inputSchema"] ?? one["input_schema"]) as ArgumentSchema;
      const about = typeof one["description"] === "string" ? one["description"] : name;
      tools[tag] = describeArguments(about.slice(0, 2000), schema);
      byTag.set(tag, { name, schema });
    }
    const plain = [...byTag].flatMap(([tag, { schema }]) =>
      Object.keys(schema.properties ?? {}).length === 0 ? [tag] : [],
    );
    return {
      tools,
      plain: new Set(plain),
      action: (tag, input) => {
        const { name, schema } = byTag.get(tag) ?? { name: tag, schema: {} };
        const args = readArguments(input, schema);
        return typeof args === "string"
          ? args
          : { type: "call_tool", tool_name: name, arguments: args };
      },
    };
  } finally {
    sessions.give(holder, connection);
  }
}

function headersOf({ tokenEnv }: OpenEnvOptions): Record<string, string> {
  if (tokenEnv === undefined) return {};
  const token = environment[tokenEnv];
  if (token) return { Authorization: `Bearer ${token}` };
  throw new Error(
    `Cannot use an environment: the environment variable ${tokenEnv} must hold a token, got none`,
  );
}

const objectOf = (value: unknown): Json => (isRecord(value) ? (value as Json) : {});
