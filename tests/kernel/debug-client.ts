// A client of the debugger for tests: requests on the control channel, events from iopub.
import assert from "node:assert/strict";
import type { Json } from "../../kernel/wire/message.js";
import type { StackFrame, Variable } from "../../kernel/wire/debug/protocol.js";
import { until } from "../until.js";
import { type Execution, FrontEnd, type StartOptions } from "./front-end.js";

/** An event of the debugger. */
export interface DebugEvent {
  event: string;
  body: Json;
}

/** Where the program stands. */
export interface Stop {
  reason: string;
  text: string | undefined;
  frames: StackFrame[];
  /** `name:line` of each frame. */
  at: string[];
  /** The line that is next. */
  line: number;
  frameId: number;
}

export class DebugClient {
  #seq = 0;
  #seen = 0;

  private constructor(readonly kernel: FrontEnd) {}

  static async start(options: StartOptions = {}): Promise<DebugClient> {
    return await DebugClient.attachTo(await FrontEnd.start(options));
  }

  static async attachTo(kernel: FrontEnd): Promise<DebugClient> {
    const client = new DebugClient(kernel);
    await client.attach();
    return client;
  }

  async attach(): Promise<void> {
    await this.ask("initialize", { clientID: "test", linesStartAt1: true });
    await this.ask("attach", {});
    await this.ask("configurationDone");
  }

  /** Asks; the whole answer, also where it is no. */
  async response(command: string, args: Json = {}): Promise<Json> {
    const content = { type: "request", seq: ++this.#seq, command, arguments: args };
    const reply = await this.kernel.request("control", "debug_request", content);
    assert.equal(reply.header.msg_type, "debug_reply");
    assert.equal(reply.content["request_seq"], this.#seq);
    assert.equal(reply.content["command"], command);
    return reply.content;
  }

  /** Asks for what must be answered. */
  async ask<Body = Json>(command: string, args: Json = {}): Promise<Body> {
    const { success, message, body } = await this.response(command, args);
    assert.equal(success, true, `${command}: ${String(message)}`);
    return body as Body;
  }

  /** Asks for what must be refused; why. */
  async refusal(command: string, args: Json = {}): Promise<string> {
    const { success, message } = await this.response(command, args);
    assert.equal(success, false, `${command} is not refused`);
    return String(message);
  }

  get events(): DebugEvent[] {
    return this.kernel.iopub
      .filter((message) => message.header.msg_type === "debug_event")
      .map(({ content }) => content as unknown as DebugEvent);
  }

  /** Sets the breakpoints of a cell, from its text; they are lines, or more than that. */
  async breakAt(code: string, ...lines: (number | Json)[]): Promise<Json[]> {
    const { sourcePath } = await this.ask<{ sourcePath: string }>("dumpCell", { code });
    return await this.breakIn(sourcePath, ...lines);
  }

  async breakIn(path: string, ...lines: (number | Json)[]): Promise<Json[]> {
    const breakpoints = lines.map((line) => (typeof line === "number" ? { line } : line));
    const args = { source: { path }, breakpoints, sourceModified: false };
    return (await this.ask<{ breakpoints: Json[] }>("setBreakpoints", args)).breakpoints;
  }

  /** Waits for the next stop. */
  async stopped(): Promise<Stop> {
    const { body } = await until(() => {
      const stops = this.events.filter(({ event }) => event === "stopped");
      return stops[this.#seen];
    }, "the program to stop");
    this.#seen++;
    const { stackFrames: frames } = await this.ask<{ stackFrames: StackFrame[] }>("stackTrace", {
      threadId: 1,
    });
    const at = frames.map(({ name, line }) => `${name}:${line}`);
    const [top] = frames;
    assert.ok(top, "a stop has a frame");
    const { reason, text } = body as { reason: string; text?: string };
    return { reason, text, frames, at, line: top.line, frameId: top.id };
  }

  /** Goes on, by `continue` or a step, to the next stop. */
  async go(command: "continue" | "next" | "stepIn" | "stepOut"): Promise<Stop> {
    await this.ask(command, { threadId: 1 });
    return await this.stopped();
  }

  /** Goes on to the end of a cell. */
  async finish(running: { finished: Promise<Execution> }): Promise<Execution> {
    await this.ask("continue", { threadId: 1 });
    return await running.finished;
  }

  /** The variables of a frame's scope, by name. */
  async scope(frameId: number, name: string): Promise<Map<string, Variable>> {
    const { scopes } = await this.ask<{ scopes: { name: string; variablesReference: number }[] }>(
      "scopes",
      { frameId },
    );
    const scope = scopes.find((one) => one.name === name);
    assert.ok(scope, `a scope ${name} among ${scopes.map((one) => one.name).join(", ")}`);
    return await this.inside(scope);
  }

  async inside({ variablesReference }: { variablesReference: number }, rest: Json = {}) {
    const { variables } = await this.ask<{ variables: Variable[] }>("variables", {
      variablesReference,
      ...rest,
    });
    return new Map(variables.map((variable) => [variable.name, variable]));
  }

  async evaluate(expression: string, frameId?: number, context = "repl"): Promise<string> {
    const args = { expression, context, ...(frameId !== undefined && { frameId }) };
    return (await this.ask<{ result: string }>("evaluate", args)).result;
  }

  async close(): Promise<void> {
    await this.kernel.close();
  }
}
