import type { ErrorReport, Outcome, RunRequest } from "../contract/bridge.js";
import type { CompilerClient } from "../contract/compiler-client.js";
import type { CompiledCell, CompileRequest, MadeNames } from "../contract/compiler.js";
import { diagnosticsReport, fullReport } from "./diagnostics-report.js";
import type { History } from "./history.js";
import type { Header, Json, Message } from "./message.js";
import type { Publisher } from "./publisher.js";

/**
 * Which requests a failed cell takes with it: all that were sent before its reply could be known.
 *
 * Some of them may still be on their way when the reply leaves. The front end's own clock tells: it
 * cannot have the reply earlier than it sent the failing request plus the time the cell took here.
 */
export class Failures {
  readonly #queued = new WeakSet<Message>();
  readonly #until = new Map<string, number>();

  /** `took` is in milliseconds; `queue` is what has arrived meanwhile. */
  add(failed: Message, took: number, queue: readonly Message[]): void {
    const { session, date } = failed.header;
    for (const request of queue) if (request.header.session === session) this.#queued.add(request);
    const sent = Date.parse(date);
    // Dates are cut to the millisecond by some front ends, so is the time taken.
    if (Number.isFinite(sent)) this.#until.set(session, sent + Math.floor(took));
  }

  covers(request: Message): boolean {
    const { session, date } = request.header;
    return this.#queued.has(request) || Date.parse(date) < (this.#until.get(session) ?? -Infinity);
  }
}

interface ExecutionParts {
  compiler: CompilerClient;
  publisher: Publisher;
  history: History;
  language: "typescript" | "javascript";
  /** Hands code to the main thread once that can take it; what it prints answers the request. */
  run: (message: RunRequest, request: Header) => Promise<void>;
  /** Lets the main thread have a cell from the compiler itself; undefined where it must come by `run`. */
  turn: (id: string, request: Header) => number | undefined;
  /** Whether that was in time: the main thread has not begun, and does not any more. */
  takeBack: (turn: number, id: string) => boolean;
  reply: (request: Message, content: Json) => Promise<void>;
  /** Where cells run. */
  folder: () => string;
}

/** More of a cell's text than these would be read, checked and compiled for minutes, and kept. */
const MOST_CHARACTERS = 1 << 24;

function tooLong(source: string): ErrorReport | undefined {
  if (source.length <= MOST_CHARACTERS) return undefined;
  const [most, got] = [MOST_CHARACTERS, source.length].map((n) => n.toLocaleString("en"));
  const evalue = `Cannot run this cell: it may have ${most} characters, got ${got}; read a long text from a file`;
  return { ename: "CellError", evalue, traceback: [`CellError: ${evalue}`] };
}

type Finished = Outcome & { made?: MadeNames };

const interrupted: ErrorReport = {
  ename: "InterruptError",
  evalue: "Interrupted",
  traceback: ["Interrupted"],
};

/** An error of the kernel's own is the cell's end, not the kernel's. */
const failed = (error: unknown): Outcome => {
  const { name: ename, message: evalue } =
    error instanceof Error ? error : new Error(String(error));
  return { status: "error", error: { ename, evalue, traceback: [`${ename}: ${evalue}`] } };
};

/** execute_request, one after the other: compile, run, answer. */
export class Execution {
  readonly #parts: ExecutionParts;
  readonly #queue: Message[] = [];
  readonly #failures = new Failures();
  #busy = false;
  #count = 0;
  #serial = 0;
  #current: Message | undefined;
  #settle: ((outcome: Finished) => void) | undefined;
  #stopCompiling: (() => void) | undefined;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** The cell being worked on. */
  get current(): Message | undefined {
    return this.#current;
  }

  /** The number of the cell being worked on, or of the last one. */
  get count(): number {
    return this.#count;
  }

  enqueue(request: Message): void {
    this.#queue.push(request);
    void this.#work();
  }

  /** What the main thread says of the code that it runs. */
  done(id: string, outcome: Outcome, made: MadeNames): void {
    if (this.#current !== undefined && id.startsWith(this.#current.header.msg_id)) {
      this.#settle?.({ ...outcome, made });
      this.#settle = undefined;
    }
  }

  /** Ends a cell that is still being compiled. */
  interruptCompiling(): void {
    this.#stopCompiling?.();
  }

  /** Ends a cell of which the main thread, interrupted, said nothing. */
  interruptRunning(): void {
    this.#settle?.({ status: "interrupted", error: interrupted });
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let request = this.#queue.shift(); request; request = this.#queue.shift()) {
      this.#current = request;
      if (this.#failures.covers(request)) await this.#abort(request);
      else await this.#execute(request);
    }
    this.#busy = false;
  }

  /** In one go: who looks between the two would say busy once more, after idle. */
  #idle(header: Header): void {
    this.#current = undefined;
    this.#parts.publisher.publish("status", { execution_state: "idle" }, header);
  }

  async #abort(request: Message): Promise<void> {
    const { publisher, reply } = this.#parts;
    publisher.publish("status", { execution_state: "busy" }, request.header);
    const execution_count = this.#count;
    await reply(request, { status: "aborted", execution_count, user_expressions: {} });
    this.#idle(request.header);
  }

  async #execute(request: Message): Promise<void> {
    const since = performance.now();
    const { publisher, history, reply } = this.#parts;
    const { header, content } = request;
    const source = typeof content.code === "string" ? content.code : "";
    const silent = content.silent === true;
    // Jupyter's rule: what is not kept in the history does not count either.
    const isKept = !silent && content.store_history !== false;
    if (isKept && source.trim() !== "") this.#count++;
    const payload: Json[] = [];
    // The compiler's thread works while this one says that it does.
    const running = this.#cell(request, source, silent, payload).catch(failed);
    publisher.publish("status", { execution_state: "busy" }, header);
    if (!silent) {
      publisher.publish("execute_input", { code: source, execution_count: this.#count }, header);
      if (isKept && tooLong(source) === undefined) history.add(this.#count, source);
    }
    const outcome = await running;
    const answer: Json = { execution_count: this.#count, user_expressions: {}, payload };
    if (outcome.status === "ok") {
      answer.status = "ok";
      answer.user_expressions = await this.#expressions(request);
    } else {
      const { ename, evalue, traceback } = outcome.error;
      Object.assign(answer, { status: "error", ename, evalue, traceback });
      if (!silent) publisher.publish("error", { ename, evalue, traceback }, header);
      const { more } = outcome;
      if (!silent && more) publisher.publish("display_data", { data: more, metadata: {} }, header);
    }
    // Who interrupts is answered at once, whatever is still on its way to slow subscribers.
    if (outcome.status !== "interrupted") await publisher.drained();
    if (outcome.status !== "ok" && content.stop_on_error !== false) {
      this.#failures.add(request, performance.now() - since, this.#queue);
    }
    await reply(request, answer);
    this.#idle(header);
  }

  async #cell(
    request: Message,
    source: string,
    silent: boolean,
    payload: Json[],
  ): Promise<Outcome> {
    const error = tooLong(source);
    if (error !== undefined) return { status: "error", error };
    if (source.trim() === "") return { status: "ok" };
    const { msg_id: id } = request.header;
    const { extension } = this.#names();
    // A name in stack traces stands for one text.
    const filename =
      silent || request.content.store_history === false
        ? `silent-${++this.#serial}${extension}`
        : `cell-${this.#count}${extension}`;
    const { publisher } = this.#parts;
    const { cellId } = request.metadata;
    const cell = typeof cellId === "string" ? cellId : undefined;
    const allowStdin = request.content.allow_stdin === true;
    const number = this.#parts.turn(id, request.header);
    const finished = number === undefined ? undefined : this.#finished();
    const turn = number === undefined ? undefined : { number, silent, allowStdin };
    const question = { id, source, filename, kind: "cell", cell, turn } as const;
    const compiled = await this.#compile(question, finished);
    if ("finished" in compiled) return this.#ended(request, id, compiled.finished);
    if (number !== undefined) {
      this.#settle = undefined;
      this.#parts.takeBack(number, id);
    }
    if ("status" in compiled) return compiled;
    if (!compiled.ok) {
      const report = diagnosticsReport(compiled.diagnostics, source, this.#count);
      return { status: "error", error: report, more: fullReport(compiled.diagnostics) };
    }
    if ("pager" in compiled) {
      payload.push({ source: "page", data: compiled.pager, start: 0 });
      return { status: "ok" };
    }
    if (compiled.diagnostics.length > 0) {
      const { traceback } = diagnosticsReport(compiled.diagnostics, source, this.#count);
      const text = `${traceback.join("\n")}\n`;
      publisher.stream("stderr", text, request.header, () => undefined);
    }
    const outcome = await this.#run(request.header, {
      type: "run",
      id,
      count: this.#count,
      js: compiled.js,
      map: compiled.map,
      filename,
      source,
      kind: "cell",
      silent,
      allowStdin,
      cellId: cell,
    });
    return this.#ended(request, id, outcome);
  }

  /** A cell that ran has ended. */
  #ended(request: Message, id: string, outcome: Finished): Outcome {
    const { compiler, publisher } = this.#parts;
    if (outcome.status === "ok" && outcome.bundle !== undefined) {
      const result = { data: outcome.bundle, metadata: {}, execution_count: this.#count };
      publisher.publish("execute_result", result, request.header);
    }
    compiler.tellSoon("settled", id, outcome.status, outcome.made ?? { defined: [], assigned: [] });
    return outcome;
  }

  async #expressions(request: Message): Promise<Json> {
    const expressions = request.content.user_expressions;
    const results: Json = {};
    if (typeof expressions !== "object" || expressions === null) return results;
    for (const [name, source] of Object.entries(expressions)) {
      const outcome = await this.#expression(request.header, String(source));
      results[name] =
        outcome.status === "ok"
          ? { status: "ok", data: outcome.bundle ?? { "text/plain": "undefined" }, metadata: {} }
          : { status: "error", ...outcome.error };
    }
    return results;
  }

  async #expression(header: Header, source: string): Promise<Outcome> {
    const id = `${header.msg_id}/${++this.#serial}`;
    const filename = `expression-${this.#serial}${this.#names().extension}`;
    const compiled = await this.#compile({ id, source, filename, kind: "expression" });
    if ("finished" in compiled) return compiled.finished;
    if ("status" in compiled) return compiled;
    if ("handed" in compiled)
      throw new Error("Cannot run an expression: it was not to be handed over");
    if (!compiled.ok) {
      return {
        status: "error",
        error: diagnosticsReport(compiled.diagnostics, source, this.#count),
      };
    }
    if ("pager" in compiled) return { status: "ok", bundle: compiled.pager };
    const { js, map } = compiled;
    const rest = { count: this.#count, silent: false, allowStdin: false } as const;
    const expression = { type: "run", id, js, map, filename, source, kind: "expression" } as const;
    return this.#run(header, { ...expression, ...rest });
  }

  #names(): { extension: string } {
    return { extension: this.#parts.language === "typescript" ? ".ts" : ".js" };
  }

  /**
   * Compiles; an interrupt meanwhile, or a compiler that fails, is the cell's outcome. `finished`: how the cell
   * ended, where the compiler hands it to the main thread.
   */
  async #compile(
    asked: Omit<CompileRequest, "count" | "folder">,
    finished?: Promise<Finished>,
  ): Promise<CompiledCell | Exclude<Outcome, { status: "ok" }> | { finished: Finished }> {
    const { compiler } = this.#parts;
    const { id, turn } = asked;
    const folder = this.#parts.folder();
    const stopped = new Promise<undefined>((resolve) => {
      this.#stopCompiling = () => {
        // Once the main thread has it, the interrupt is the running cell's.
        if (turn === undefined || this.#parts.takeBack(turn.number, id)) resolve(undefined);
      };
    });
    const { answer, drop } = compiler.ask("compile", { ...asked, count: this.#count, folder });
    const ways: Promise<CompiledCell | { finished: Finished } | undefined>[] = [answer, stopped];
    if (finished !== undefined) ways.push(finished.then((ended) => ({ finished: ended })));
    try {
      const compiled = await Promise.race(ways);
      if (compiled !== undefined) return compiled;
      // What it would have declared never happened.
      compiler.tell("settled", id, "interrupted", undefined);
      return { status: "interrupted", error: interrupted };
    } catch (error) {
      const isHanded = turn !== undefined && !this.#parts.takeBack(turn.number, id);
      if (finished !== undefined && isHanded) return { finished: await finished };
      const evalue = error instanceof Error ? error.message : String(error);
      const traceback = [`Cannot compile the cell: ${evalue}`];
      return { status: "error", error: { ename: "CompilerError", evalue, traceback } };
    } finally {
      drop();
      this.#stopCompiling = undefined;
    }
  }

  async #run(header: Header, request: RunRequest): Promise<Finished> {
    await this.#parts.run(request, header);
    return this.#finished();
  }

  /** What the main thread will say of the cell. */
  #finished(): Promise<Finished> {
    return new Promise((resolve) => (this.#settle = resolve));
  }
}
