import type { InputPort } from "#kernel-platform/input";
import { captureProcess } from "#kernel-platform/process";
import { setCurrentHost } from "../host/host.js";
import { CompilerClient } from "../contract/compiler-client.js";
import type { FormatValue } from "../display/contract.js";
import { WORDS, type ToMain } from "../contract/bridge.js";
import type { Port } from "../contract/port.js";
import { RunningCell, cellOfPromise, currentCell, runAs } from "./cell.js";
import { log } from "../host/log.js";
import { Channel } from "./channel.js";
import { takeUncaught } from "./debug/run-uncaught.js";
import { DebugTarget } from "./debug/target.js";
import { CommTable } from "./comm-table.js";
import { Host } from "./host.js";
import { enterKernel, leaveKernel } from "./intrinsics.js";
import { askByPrompt } from "./questions.js";
import { Runner } from "./runner.js";
import { Tracebacks } from "./traceback.js";

export interface MainParts {
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
  let format: FormatValue | undefined;
  const runner = new Runner({
    channel,
    tracebacks,
    scope: async () => {
      const { createCellScope } = await import("./scope/scope.js");
      return createCellScope(host, (...args) => modules.call("load", ...args));
    },
    format: async () => (format ??= (await import("../display/format.js")).formatValue),
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
      const { answerValues } = await import("./scope/values.js");
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
  wire.onMessage((message: ToMain) => {
    enterKernel();
    try {
      handle(message);
    } finally {
      if (runner.isInCell) leaveKernel();
    }
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
