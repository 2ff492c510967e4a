import { inputNow, type InputPort } from "#kernel-platform/input";
import { captureProcess } from "#kernel-platform/process";
import { type InputAnswer, type RunRequest, type ToMain, WORDS } from "../contract/bridge.js";
import { CompilerClient } from "../contract/compiler-client.js";
import type { Port } from "../contract/port.js";
import {
  type CellIdentity,
  type DisplayOptions,
  InterruptError,
  type KernelHost,
  log,
  type MimeBundle,
  setCurrentHost,
} from "../host/host.js";
import { cellOfPromise, currentCell, runAs, RunningCell } from "./cell.js";
import { Channel } from "./channel.js";
import { CommTable } from "./comm-table.js";
import { takeUncaught } from "./debug/run-uncaught.js";
import { DebugTarget } from "./debug/target.js";
import { enterKernel, leaveKernel } from "./intrinsics.js";
import { Runner } from "./runner.js";
import { Tracebacks } from "./traceback.js";

// A cell may have replaced them when a load ends.
const { add, sub } = Atomics;

/** What the host is made of. */
interface HostParts {
  channel: Channel;
  comms: CommTable;
  words: Int32Array;
  /** Answers to `input` arrive here and nowhere else. */
  inputPort: InputPort;
  tracebacks: Tracebacks;
}

/** The kernel as the code in its cells sees it. */
class Host implements KernelHost {
  readonly comms: CommTable;
  readonly interruptFlag: Int32Array;
  readonly #channel: Channel;
  readonly #words: Int32Array;
  readonly #inputPort: InputPort;
  readonly #tracebacks: Tracebacks;

  constructor({ channel, comms, words, inputPort, tracebacks }: HostParts) {
    this.comms = comms;
    this.interruptFlag = words.subarray(WORDS.interrupt, WORDS.interrupt + 1);
    this.#channel = channel;
    this.#words = words;
    this.#inputPort = inputPort;
    this.#tracebacks = tracebacks;
  }

  cell(): CellIdentity | undefined {
    return currentCell();
  }

  frames(error: Error): string[] {
    return this.#tracebacks.frames(error);
  }

  display(bundle: MimeBundle, options: DisplayOptions = {}): void {
    const { id: displayId, update = false, metadata = {} } = options;
    if (update && displayId === undefined) {
      throw new TypeError("Cannot update a display: options.id must be given, got undefined");
    }
    const id = currentCell()?.id ?? "";
    this.#channel.send({ type: "display", id, bundle, metadata, displayId, update });
  }

  clearOutput(wait = false): void {
    this.#channel.send({ type: "clear", id: currentCell()?.id ?? "", wait });
  }

  stream(name: "stdout" | "stderr", text: string): void {
    this.#channel.stream(currentCell()?.id ?? "", name, text);
  }

  input(prompt: string, { password = false } = {}): Promise<string> {
    const cell = this.#askable();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#inputPort.off("message", answer);
        this.#inputPort.unref();
        cell.signal.removeEventListener("abort", interrupted);
      };
      const answer = (message: InputAnswer): void => {
        stop();
        if (message.ok) resolve(message.text);
        else reject(new Error(message.reason));
      };
      const interrupted = (): void => {
        stop();
        reject(cell.signal.reason as Error);
      };
      this.#inputPort.on("message", answer);
      cell.signal.addEventListener("abort", interrupted);
      this.#channel.send({ type: "input", id: cell.id, prompt, password });
    });
  }

  inputSync(prompt: string, { password = false } = {}): string {
    const cell = this.#askable();
    const seen = Atomics.load(this.#words, WORDS.inputs);
    this.#channel.send({ type: "input", id: cell.id, prompt, password });
    for (;;) {
      const received = inputNow(this.#inputPort);
      if (received?.ok) return received.text;
      if (received) throw new Error(received.reason);
      this.checkInterrupt();
      Atomics.wait(this.#words, WORDS.inputs, seen, 50);
    }
  }

  checkInterrupt(): void {
    if (this.interruptFlag[0] !== 0) throw new InterruptError();
  }

  #askable(): CellIdentity {
    const cell = currentCell();
    if (cell === undefined) throw new Error("Cannot ask for input: only a cell can, got none");
    if (!cell.allowStdin) {
      throw new Error("Cannot ask for input: this front end does not take input requests");
    }
    return cell;
  }
}

/** Makes `prompt`, `confirm` and `alert` ask the person at the front end; Node has none of them. */
function askByPrompt(ask: (message: string) => string): void {
  const questions = {
    prompt(message = "Prompt", defaultValue = ""): string | null {
      const shown = defaultValue === "" ? message : `${message} [${defaultValue}] `;
      return ask(String(shown)) || String(defaultValue);
    },
    confirm: (message = "Confirm"): boolean => /^y(es)?$/i.test(ask(`${message} [y/N] `).trim()),
    alert(message = "Alert"): void {
      ask(`${message} [Enter] `);
    },
  };
  for (const [name, value] of Object.entries(questions)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}

interface MainParts {
  wire: Port;
  compiler: Port;
  words: Int32Array;
  inputPort: InputPort;
}

/** Sets up the thread that runs cells and starts to listen. */
export function startMain({ wire, compiler, words, inputPort }: MainParts): void {
  const channel = new Channel(wire, words);
  const tracebacks = new Tracebacks();
  const comms = new CommTable((traffic) =>
    channel.send({ ...traffic, id: currentCell()?.id ?? "" }),
  );
  const host = new Host({ channel, comms, words, inputPort, tracebacks });
  inputPort.unref();
  setCurrentHost(host);
  const report = (error: unknown, id = ""): void =>
    channel.send({ type: "error", id, error: tracebacks.report(error) });
  const { exit, cleanUp } = captureProcess({
    print: (name, text) => host.stream(name, text),
    uncaught: (error) => report(error, currentCell()?.id),
    rejected: (reason, promise) => {
      if (!takeUncaught(promise, reason)) report(reason, cellOfPromise(promise)?.id);
    },
    ask: () => host.input(""),
  });
  askByPrompt((message) => host.inputSync(message));

  const modules = new CompilerClient(compiler);
  const load = async <T>(loads: () => Promise<T>): Promise<T> => {
    add(words, WORDS.loading, 1);
    try {
      return await loads();
    } finally {
      sub(words, WORDS.loading, 1);
    }
  };
  // At once: what begins to load after an interrupt has struck may never end.
  const own = load(async () => ({
    ...(await import("./scope/scope.js")),
    ...(await import("../display/format.js")),
  }));
  const runner = new Runner({
    channel,
    tracebacks,
    scope: async () => {
      const { createCellScope } = await own;
      return createCellScope(host, (...args) => modules.call("load", ...args));
    },
    format: async () => (await own).formatValue,
    findsUncaught: () => debug.findsUncaught,
  });
  const debug = new DebugTarget({
    tracebacks,
    channel,
    variables: () => runner.variables,
    declare: (name, value) => runner.declare(name, value),
    print: (text) => host.stream("stdout", text),
  });

  comms.register("arpo-lab.values", (comm) => {
    comm.onMessage = async (message) => {
      const { answerValues } = await load(() => import("./scope/values.js"));
      await answerValues(comm, message, host, runner.variables);
    };
  });

  // A cell can print for as long as anything it started holds on to it, and no longer.
  const cells = new FinalizationRegistry<string>((id) => channel.send({ type: "forgotten", id }));

  // Awaits and never calls `then`, which a cell may have replaced.
  const receive = async (cell: RunningCell, message: Parameters<CommTable["receive"]>[0]) => {
    const { id } = cell;
    try {
      await runAs(cell, () => comms.receive(message));
    } catch (error) {
      report(error, id);
    }
    channel.send({ type: "comm-handled", id });
  };

  let interruptsHandled = 0;
  const handle = (message: ToMain): void => {
    switch (message.type) {
      case "run":
        cells.register(runner.run(message), message.id);
        return;
      case "interrupt": {
        const { interrupt, question } = message;
        if (interrupt !== interruptsHandled) {
          Atomics.store(words, WORDS.interrupt, 0);
          runner.interrupt();
          channel.recover();
          cleanUp();
          interruptsHandled = interrupt;
        }
        return channel.send({ type: "interrupted", interrupt, question });
      }
      case "comm": {
        const cell = new RunningCell(message.id, 0, false);
        cells.register(cell, message.id);
        void receive(cell, message);
        return;
      }
      case "shutdown":
        channel.flush();
        exit(0);
    }
  };
  const take = (message: ToMain): void => {
    enterKernel();
    try {
      handle(message);
    } finally {
      if (runner.isInCell) leaveKernel();
    }
  };
  wire.onMessage(take);
  compiler.onMessage((message: Partial<RunRequest>) => {
    const { turn } = message;
    if (turn === undefined || Atomics.compareExchange(words, WORDS.turn, turn, 0) !== turn) return;
    take(message as RunRequest);
  });
  wire.onError((error) => {
    log(`The protocol thread stopped: ${error.stack}`);
    exit(1);
  });
  wire.onGone(() => exit(1));
  compiler.onError((error) => {
    host.stream("stderr", `The kernel's compiler thread stopped: ${error.stack}\n`);
  });
}
