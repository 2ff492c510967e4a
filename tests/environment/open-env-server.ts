// A small OpenEnv server, made from transcripts of openenv 0.10.0: `/schema` over HTTP, sessions over `/ws`.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";

type Json = Record<string, unknown>;

/** What one environment is: an answer's `data` for a reset and for a step, or an error's. */
export interface FakeWorld {
  reset(data: Json): Json;
  step(action: Json): Json;
  state?: Json;
}

export interface FakeOptions {
  world: () => FakeWorld;
  capacity?: number;
  action?: Json;
  tools?: Json[];
  /** Answers in place of the server: true if it has. */
  fault?: (socket: WebSocket, message: Json) => boolean;
}

const observation = (fields: Json, reward: number | null = null, done = false): Json => ({
  observation: { metadata: {}, ...fields },
  reward,
  done,
});

/** A path of cells that begins where the seed says; the goal is cell 5. As grid_world answers. */
export const walk = (): FakeWorld => {
  let at = 0;
  let steps = 0;
  return {
    reset: ({ seed }) => {
      at = Number(seed) % 4;
      steps = 0;
      return observation({ at, message: `You stand at ${at}.` }, 0);
    },
    step: (fields) => {
      const way = fields["action"];
      if (way !== "LEFT" && way !== "RIGHT") {
        const msg = "Input should be 'LEFT' or 'RIGHT'";
        const errors = [{ type: "enum", loc: ["action"], msg, input: way }];
        return { message: "Invalid message", code: "VALIDATION_ERROR", errors };
      }
      at += way === "LEFT" ? -1 : 1;
      steps++;
      const done = at === 5;
      return observation({ at, message: `${steps}: now at ${at}.` }, done ? 1 : -0.1, done);
    },
    state: { episode_id: "e", step_count: 0, secret: "STATE-SECRET" },
  };
};
export const walkAction: Json = {
  description: "Moves by one.",
  properties: {
    metadata: { type: "object" },
    action: { type: "string", description: "LEFT or RIGHT" },
  },
  required: ["action"],
};

/** Draws anew at each reset, whatever the seed: as TextArena's Mastermind does. */
export const forgetful = (): FakeWorld => {
  let drawn = 0;
  return {
    reset: () => observation({ message: "Guess." }, 0),
    step: () => observation({ message: `${drawn++} ${Math.random()}` }, 0),
  };
};

/** An MCP environment with one tool. */
export const echo = (): FakeWorld => ({
  reset: () => observation({ metadata: { message: "Echo is ready." } } as Json),
  step: (action) => {
    const { tool_name, arguments: given } = action as { tool_name: string; arguments: Json };
    if (tool_name !== "echo_message") {
      const error = { error_type: "tool_not_found", message: `Unknown tool: '${tool_name}'` };
      return observation({ tool_name, result: null, error });
    }
    const text = String(given["message"]);
    const result = { content: [{ type: "text", text }], data: text, is_error: false };
    return observation({ tool_name, result, error: null });
  },
});
export const echoTools: Json[] = [
  {
    name: "echo_message",
    description: "Echoes.",
    inputSchema: {
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
    },
  },
];
export const callTool: Json = {
  properties: { type: { const: "call_tool" }, tool_name: {}, arguments: {} },
};

/** Starts one for a test. */
export async function openEnvServer(t: TestContext, options: FakeOptions) {
  const { world, capacity = 1, action = walkAction, tools, fault } = options;
  const seen = { sessions: 0, most: 0, full: 0, resets: 0, steps: 0, tokens: new Set<unknown>() };
  let active = 0;
  const http = createServer((request, response) => {
    seen.tokens.add(request.headers.authorization);
    if (request.url === "/schema") response.end(JSON.stringify({ action }));
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  const sockets = new WebSocketServer({ server: http, path: "/ws" });
  sockets.on("connection", (socket, request) => {
    seen.tokens.add(request.headers.authorization);
    const say = (type: string, data: Json) => {
      socket.send(JSON.stringify({ type, data }));
    };
    if (active >= capacity) {
      seen.full++;
      const counts = { active_sessions: active, max_sessions: capacity };
      say("error", { message: "Server at capacity", code: "CAPACITY_REACHED", ...counts });
      socket.close(1000);
      return;
    }
    active++;
    seen.sessions++;
    seen.most = Math.max(seen.most, active);
    socket.on("close", () => active--);
    const own = world();
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; data: Json };
      if (fault?.(socket, message)) return;
      if (message.type === "state") say("state", own.state ?? { step_count: 0 });
      else if (message.type === "mcp") {
        say("mcp", { jsonrpc: "2.0", id: 1, result: { tools: tools ?? [] } });
      } else {
        if (message.type === "reset") seen.resets++;
        else seen.steps++;
        const answer = message.type === "reset" ? own.reset(message.data) : own.step(message.data);
        say("code" in answer ? "error" : "observation", answer);
      }
    });
  });
  await once(http, "listening");
  t.after(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}
