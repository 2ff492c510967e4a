import { utf8Text } from "#platform/bytes";
import { randomUUID } from "#platform/uuid";
import { join } from "#platform/path";
import { CompilerClient } from "../contract/compiler-client.js";
import { WORDS, type FromMain, type InputAnswer, type WireData } from "../contract/bridge.js";
import type { Port } from "../contract/port.js";
import type { FrameSocket, Sockets } from "../contract/sockets.js";
import { CommRelay } from "./comm-relay.js";
import type { Connection } from "./connection.js";
import type { AdapterParts, DebugAdapter } from "./debug/adapter.js";
import { Execution } from "./execution.js";
import { History } from "./history.js";
import { type Force, Interrupter } from "./interrupter.js";
import { log } from "../host/host.js";
import { kernelInfo } from "./kernel-info.js";
import {
  Encoder,
  decodeMessage,
  type Header,
  type Json,
  type Message,
  type Signs,
} from "./message.js";
import { Publisher } from "./publisher.js";
import { cellAnswers } from "./cell-answers.js";
import { Subshells } from "./subshells.js";

/** What lies outside of the kernel's threads: a process and its parent, or a page. */
export interface Outside {
  force: Force;
  /** Where history is kept; undefined where it is not. */
  history: string | undefined;
  /** Where cells run. */
  folder: () => string;
  onInterrupt: (heard: () => void) => void;
  onGone: (gone: () => void) => void;
  /** Before everything else is closed. */
  close: () => void;
  /** The last thing that is done. */
  end: () => void;
  debug?: (parts: Omit<AdapterParts, "inspector">) => Promise<DebugAdapter>;
}

interface WireParts {
  sockets: Sockets;
  signer: Signs;
  /** Where its sockets are, for who asks. */
  connection?: Connection;
  outside: Outside;
  data: Pick<WireData, "words" | "language">;
  /** The compiler's thread can reach the one that runs cells. */
  handsOver?: boolean;
  main: Port;
  compiler: Port;
  /** Answers to input go here; where memory is shared they lie there before the count goes up. */
  input: Pick<Port, "postMessage">;
}

type Channel = "shell" | "control" | "stdin";

/** Routes messages between the sockets, the thread that runs cells and the one that compiles. */
export class WireKernel {
  readonly #parts: WireParts;
  readonly #encoder: Encoder;
  readonly #publisher: Publisher;
  readonly #compiler: CompilerClient;
  readonly #history: History;
  readonly #execution: Execution;
  readonly #interrupter: Interrupter;
  /** Made when the first front end asks for it. */
  #debugger: DebugAdapter | undefined;
  #debugging: Promise<DebugAdapter> | undefined;
  /** What the debugger's client asked last. */
  #debugRequest: Header | undefined;
  readonly #comms: CommRelay;
  readonly #subshells = new Subshells();
  readonly #words: Int32Array;
  /** What the main thread may still print under, by id: late output finds its cell. */
  readonly #headers = new Map<string, Header>();
  /** The id of the question that waits for its answer. */
  #asking: string | undefined;
  readonly #sending = new Map<FrameSocket, Promise<void>>();
  #turns = 0;

  constructor(parts: WireParts) {
    const { sockets, signer, outside, data, main } = parts;
    this.#parts = parts;
    this.#words = new Int32Array(data.words);
    this.#encoder = new Encoder(signer);
    this.#publisher = new Publisher(sockets.iopub, this.#encoder);
    this.#compiler = new CompilerClient(parts.compiler);
    this.#history = new History(outside.history && join(outside.history, "history"));
    this.#comms = new CommRelay(
      this.#publisher,
      (message) => main.postMessage(message),
      cellAnswers(this.#compiler, outside.folder),
    );
    this.#interrupter = new Interrupter(this.#words, outside.force, (interrupt, question) =>
      main.postMessage({ type: "interrupt", interrupt, question }),
    );
    this.#execution = new Execution({
      compiler: this.#compiler,
      publisher: this.#publisher,
      history: this.#history,
      language: data.language,
      run: async (message, request) => {
        await this.#interrupter.over();
        if (this.#debugger?.isOn === true) await this.#debugger.beforeRun(message);
        this.#headers.set(message.id, request);
        main.postMessage(message);
      },
      turn: (id, request) => this.#turn(id, request),
      takeBack: (turn, id) => {
        const isTaken = Atomics.compareExchange(this.#words, WORDS.turn, turn, 0) !== turn;
        if (!isTaken) this.#headers.delete(id);
        return !isTaken;
      },
      reply: (request, content) => this.#reply("shell", request, content),
      folder: outside.folder,
    });
  }

  #turn(id: string, request: Header): number | undefined {
    const mustAsk = this.#interrupter.pending || this.#debugger?.isOn === true;
    if (this.#parts.handsOver !== true || mustAsk) return undefined;
    this.#headers.set(id, request);
    const turn = (this.#turns = (this.#turns % 0x7fffffff) + 1);
    Atomics.store(this.#words, WORDS.turn, turn);
    return turn;
  }

  start(): void {
    const { sockets, main, outside } = this.#parts;
    main.onMessage((message: FromMain) => this.#fromMain(message));
    outside.onInterrupt(() => this.#interrupt());
    this.#publisher.publish("status", { execution_state: "starting" }, undefined);
    void this.#heartbeat();
    void this.#subscriptions();
    for (const channel of ["shell", "control", "stdin"] as const) {
      void this.#receive(channel, sockets[channel]);
    }
    this.#compiler.tell("warm");
    outside.onGone(() => void this.#shutdown());
  }

  async #heartbeat(): Promise<void> {
    const { heartbeat } = this.#parts.sockets;
    for await (const frames of heartbeat) await heartbeat.send(frames);
  }

  /** Subscribers must be read, or their requests pile up; each is told that it is heard from now on. */
  async #subscriptions(): Promise<void> {
    for await (const [frame] of this.#parts.sockets.iopub) {
      if (frame?.[0] !== 1) continue;
      const subscription = utf8Text(frame.subarray(1));
      this.#publisher.publish("iopub_welcome", { subscription }, undefined);
    }
  }

  async #receive(channel: Channel, socket: FrameSocket): Promise<void> {
    for await (const frames of socket) {
      let message: Message;
      try {
        message = decodeMessage(frames, this.#parts.signer);
      } catch (error) {
        // Not from our front end, or not Jupyter: nobody to answer.
        log(`${channel}: ${error instanceof Error ? error.message : String(error)}`);
        continue;
      }
      if (channel === "stdin") this.#answerInput(message);
      else if (message.header.msg_type !== "execute_request") void this.#handle(channel, message);
      else if (this.#subshells.refusal(message.header)) void this.#handle(channel, message);
      else this.#execute(message);
    }
  }

  #execute(message: Message): void {
    if (this.#subshells.isFor(message.header) && this.#execution.current !== undefined) {
      const text = "Waits for the cell that runs: the subshells of this kernel share its thread.\n";
      this.#publisher.publish("stream", { name: "stderr", text }, message.header);
    }
    this.#execution.enqueue(message);
  }

  /** Everything but execution: answered at once, also while a cell runs. */
  async #handle(channel: Channel, message: Message): Promise<void> {
    const { header } = message;
    this.#publisher.publish("status", { execution_state: "busy" }, header);
    try {
      const content = await this.#answer(message);
      if (content !== undefined && header.msg_type.endsWith("_request"))
        await this.#reply(channel, message, content);
    } catch (error) {
      const evalue = error instanceof Error ? error.message : String(error);
      const ename = error instanceof Error ? error.name : "Error";
      const traceback = [`${ename}: ${evalue}`];
      if (header.msg_type.endsWith("_request")) {
        await this.#reply(channel, message, { status: "error", ename, evalue, traceback });
      }
    }
    this.#publisher.publish("status", { execution_state: "idle" }, header);
    const running = this.#execution.current;
    // A front end that shows one state for the kernel should go on showing that it works.
    if (running && running !== message) {
      this.#publisher.publish("status", { execution_state: "busy" }, running.header);
    }
    if (header.msg_type === "shutdown_request") await this.#shutdown();
  }

  async #answer(message: Message): Promise<Json | undefined> {
    const { content, header } = message;
    const ofSubshells =
      this.#subshells.refusal(header) ?? this.#subshells.answer(header.msg_type, content);
    if (ofSubshells !== undefined) return ofSubshells;
    switch (header.msg_type) {
      case "kernel_info_request":
        return kernelInfo(this.#parts.data.language, this.#parts.outside.debug !== undefined);
      case "connect_request":
        return { status: "ok", ...this.#ports() };
      case "complete_request":
        return this.#complete(content);
      case "inspect_request":
        return this.#inspect(content);
      case "is_complete_request":
        return { ...(await this.#compiler.call("isComplete", String(content.code ?? ""))) };
      case "history_request":
        return this.#history.answer(content);
      case "comm_info_request":
        return { status: "ok", comms: this.#comms.info(content.target_name) };
      case "comm_open":
      case "comm_msg":
      case "comm_close":
        this.#headers.set(header.msg_id, header);
        await this.#comms.fromFrontEnd(message);
        return undefined;
      case "interrupt_request":
        this.#interrupt();
        return { status: "ok" };
      case "shutdown_request":
        return { status: "ok", restart: content.restart === true };
      case "debug_request":
        this.#debugRequest = header;
        return await (await this.#adapter()).request(content);
      default: {
        const evalue = `the kernel does not know ${header.msg_type}`;
        return { status: "error", ename: "UnknownMessage", evalue, traceback: [evalue] };
      }
    }
  }

  #adapter(): Promise<DebugAdapter> {
    const { data, outside } = this.#parts;
    if (outside.debug === undefined) {
      throw new Error("Cannot debug: this kernel runs where no debugger can be");
    }
    this.#debugging ??= outside
      .debug({
        compiler: this.#compiler,
        language: data.language,
        publish: (event) => this.#publisher.publish("debug_event", event, this.#debugRequest),
        isRunning: () => this.#execution.current !== undefined,
      })
      .then((made) => (this.#debugger = made));
    return this.#debugging;
  }

  async #complete(content: Json): Promise<Json> {
    const code = String(content.code ?? "");
    const cursor = fromCodePoints(code, content.cursor_pos);
    const found = await this.#compiler.call("complete", code, cursor, this.#parts.outside.folder());
    const items = found.items.map((item) => ({
      ...item,
      start: toCodePoints(code, found.start),
      end: toCodePoints(code, found.end),
    }));
    return {
      status: "ok",
      matches: found.matches,
      cursor_start: toCodePoints(code, found.start),
      cursor_end: toCodePoints(code, found.end),
      metadata: { _jupyter_types_experimental: items },
    };
  }

  async #inspect(content: Json): Promise<Json> {
    const code = String(content.code ?? "");
    const cursor = fromCodePoints(code, content.cursor_pos);
    const detail = content.detail_level === 1 ? 1 : 0;
    const data = await this.#compiler.call(
      "inspect",
      code,
      cursor,
      detail,
      this.#parts.outside.folder(),
    );
    return { status: "ok", found: data !== undefined, data: data ?? {}, metadata: {} };
  }

  #ports(): Json {
    if (this.#parts.connection === undefined) return {};
    const { shell_port, iopub_port, stdin_port, control_port, hb_port } = this.#parts.connection;
    return { shell_port, iopub_port, stdin_port, control_port, hb_port };
  }

  #interrupt(): void {
    if (this.#interrupter.pending) return;
    this.#execution.interruptCompiling();
    void this.#debugger?.interrupting();
    this.#interrupter.interrupt();
    // Where the termination struck the kernel's own code, nobody said how the cell ended.
    void this.#interrupter.over().then(() => {
      void this.#debugger?.interrupted();
      this.#execution.interruptRunning();
    });
  }

  #answerInput(message: Message): void {
    if (this.#asking === undefined || message.header.msg_type !== "input_reply") return;
    // JupyterLab names the question it answers: one that was given up has no answer any more.
    const { msg_id: question, msg_type: type } = message.parent;
    if (type === "input_request" && question !== this.#asking) return;
    this.#asking = undefined;
    this.#giveInput({ ok: true, text: String(message.content.value ?? "") });
  }

  #giveInput(answer: InputAnswer): void {
    this.#parts.input.postMessage(answer);
    Atomics.add(this.#words, WORDS.inputs, 1);
    Atomics.notify(this.#words, WORDS.inputs);
  }

  #fromMain(message: FromMain): void {
    const publisher = this.#publisher;
    const parent = "id" in message ? this.#headers.get(message.id) : undefined;
    const sent = (): void => {
      if (!("weight" in message) || message.weight === undefined) return;
      Atomics.sub(this.#words, WORDS.inFlight, message.weight);
      Atomics.notify(this.#words, WORDS.inFlight);
    };
    switch (message.type) {
      case "stream":
        return publisher.stream(message.name, message.text, parent, sent);
      case "display": {
        const transient = message.displayId === undefined ? {} : { display_id: message.displayId };
        const content = { data: message.bundle, metadata: message.metadata, transient };
        return publisher.publish(
          message.update ? "update_display_data" : "display_data",
          content,
          parent,
          { sent },
        );
      }
      case "clear":
        return publisher.publish("clear_output", { wait: message.wait }, parent);
      case "error":
        return publisher.publish("error", { ...message.error }, parent);
      case "comm":
        return this.#comms.fromMain(message, parent, sent);
      case "comm-handled":
        return this.#comms.handled(message.id);
      case "input":
        return void this.#ask(message);
      case "done":
        this.#debugger?.afterRun();
        return this.#execution.done(message.id, message.outcome, message.made);
      case "forgotten":
        return void this.#headers.delete(message.id);
      case "debug-output":
        return this.#debugger?.output(message.text);
      case "interrupted":
        this.#asking = undefined;
        return this.#interrupter.answered(message.interrupt, message.question);
    }
  }

  async #ask({ prompt, password }: { prompt: string; password: boolean }): Promise<void> {
    const asking = this.#execution.current;
    if (asking === undefined) {
      return this.#giveInput({ ok: false, reason: "Cannot ask for input: the cell has ended" });
    }
    const id = randomUUID();
    this.#asking = id;
    await this.#publisher.drained();
    const content = { prompt, password };
    const message = { type: "input_request", content, parent: asking.header, id };
    await this.#send(this.#parts.sockets.stdin, this.#encoder.encode(message, asking.identities));
  }

  #reply(channel: Channel, request: Message, content: Json): Promise<void> {
    const type = request.header.msg_type.replace(/_request$/, "_reply");
    const frames = this.#encoder.encode(
      { type, content, parent: request.header },
      request.identities,
    );
    return this.#send(this.#parts.sockets[channel], frames);
  }

  /** One send at a time per socket, in order. */
  #send(socket: FrameSocket, frames: Uint8Array[]): Promise<void> {
    const before = this.#sending.get(socket) ?? Promise.resolve();
    const sent = before
      .then(() => socket.send(frames))
      .catch((error: unknown) => {
        // The front end that asked has gone.
        log(`Cannot reply: ${String(error)}`);
      });
    this.#sending.set(socket, sent);
    return sent;
  }

  async #shutdown(): Promise<void> {
    const { sockets, main, outside } = this.#parts;
    // A subscriber that no longer reads must not keep the kernel alive.
    await Promise.race([this.#publisher.drained(), new Promise((late) => setTimeout(late, 1000))]);
    this.#interrupter.close();
    outside.close();
    this.#debugger?.close();
    this.#history.close();
    await Promise.all((Object.values(sockets) as FrameSocket[]).map((socket) => socket.close()));
    main.postMessage({ type: "shutdown" });
    // A main thread that computes does not hear it.
    setTimeout(() => outside.end(), 500);
  }
}

/** Jupyter counts code points, JavaScript UTF-16 units. */
function fromCodePoints(text: string, position: unknown): number {
  if (typeof position !== "number") return text.length;
  return [...text].slice(0, position).join("").length;
}

function toCodePoints(text: string, position: number): number {
  return [...text.slice(0, position)].length;
}
