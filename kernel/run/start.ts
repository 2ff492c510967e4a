import type { MessagePort, Worker } from "node:worker_threads";
import { setCurrentHost } from "../host/host.js";
import { CompilerClient } from "../compile/client.js";
import type { FormatValue } from "../display/contract.js";
import { WORDS, type ToMain } from "./bridge.js";
import { RunningCell, currentCell, runAs } from "./cell.js";
import { log } from "../wire/log.js";
import { Channel } from "./channel.js";
import { CommTable } from "./comm-table.js";
import { Host } from "./host.js";
import { captureProcess } from "./process.js";
import { Runner } from "./runner.js";
import { askForStdin } from "./stdin.js";
import { surviveTermination } from "./termination.js";
import { Tracebacks } from "./traceback.js";

export interface MainParts {
  wire: Worker;
  compiler: Worker;
  words: Int32Array;
  inputPort: MessagePort;
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
  const cleanUp = surviveTermination();
  const exit = captureProcess({ channel, tracebacks });
  askForStdin(() => host.input(""));

  const modules = new CompilerClient(compiler);
  let format: FormatValue | undefined;
  const runner = new Runner({
    channel,
    tracebacks,
    scope: async () => {
      const { createCellScope } = await import("../session/scope.js");
      return createCellScope(host, (...args) => modules.call("load", ...args));
    },
    format: () => format ?? import("../display/format.js").then((m) => (format = m.formatValue)),
  });

  comms.register("arpo-lab.values", (comm) => {
    comm.onMessage = async (message) => {
      const { answerValues } = await import("../session/values.js");
      await answerValues(comm, message, host, runner.variables);
    };
  });

  // A cell can print for as long as anything it started holds on to it, and no longer.
  const cells = new FinalizationRegistry<string>((id) => channel.send({ type: "forgotten", id }));

  let interruptsHandled = 0;
  wire.on("message", (message: ToMain) => {
    switch (message.type) {
      case "run":
        return cells.register(runner.run(message), message.id);
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
        const done = (): void => channel.send({ type: "comm-handled", id: message.id });
        const cell = new RunningCell(message.id, 0, false);
        cells.register(cell, message.id);
        runAs(cell, () => comms.receive(message)).then(done, (error: unknown) => {
          channel.send({ type: "error", id: message.id, error: tracebacks.report(error) });
          done();
        });
        return;
      }
      case "shutdown":
        channel.flush();
        return exit(0);
    }
  });
  wire.on("error", (error) => {
    log(`The protocol thread stopped: ${error.stack}`);
    exit(1);
  });
  wire.on("exit", () => exit(1));
  compiler.on("error", (error) => {
    host.stream("stderr", `The kernel's compiler thread stopped: ${error.stack}\n`);
  });
}
