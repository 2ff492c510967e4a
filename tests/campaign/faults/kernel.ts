// Cells and messages that disturb a kernel: its variables stay, and it answers.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../src/base/random/random.js";
import { begun, FrontEnd } from "../../kernel/front-end.js";
import { type Area, Broken } from "../attempt.js";

/** What a cell may do to its own process; each ends by itself. */
const cells: Record<string, string> = {
  "ends its process": "process.exit(1)",
  "aborts in a promise": "Promise.reject(new Error('lost')); 1",
  "throws from a timer": "setTimeout(() => { throw new Error('late') }, 5); 1",
  "throws nothing": "throw undefined",
  "throws a proxy": "throw new Proxy({}, { get() { throw 1 } })",
  "throws an object without a prototype": "throw Object.create(null)",
  "overflows its stack": "const deep = (): number => deep() + 1; deep()",
  "deletes its working folder":
    "const fs = await import('node:fs'); const d = fs.mkdtempSync('/tmp/arpo-lab-gone-'); process.chdir(d); fs.rmdirSync(d); 1",
  "replaces JSON": "JSON.stringify = () => { throw 1 }; JSON.parse = () => null; 1",
  "replaces then": "Promise.prototype.then = function () { return this }; 1",
  "replaces push": "Array.prototype.push = () => 0; 1",
  "replaces the Map":
    "Map.prototype.get = () => 1; Map.prototype.set = function () { return this }; 1",
  "replaces timers": "globalThis.setTimeout = globalThis.setImmediate = (() => 0) as never; 1",
  "replaces the process":
    "process.emit = (() => false) as never; process.nextTick = (() => 0) as never; 1",
  "deletes what is global":
    "for (const k of ['Buffer', 'URL', 'queueMicrotask', 'structuredClone']) Reflect.deleteProperty(globalThis, k); 1",
  "prints much": "for (let i = 0; i < 20000; i++) console.log(i); 1",
  "prints one long line": "console.log('x'.repeat(5e6)); 1",
  "shows a getter that throws": "({ get a() { throw new Error('no') } })",
  "shows a cycle": "const round: unknown[] = []; round.push(round, { round }); round",
  "shows what is deep": "let far: unknown = 1; for (let i = 0; i < 20000; i++) far = [far]; far",
  "shows much": "new Float64Array(2e7)",
  "shows a class whose text throws":
    "new (class { toString() { throw 1 } get [Symbol.toStringTag]() { throw 2 } })()",
  "leaves a rejected await": "await Promise.reject(new Error('x'))",
  "never ends, by itself":
    "await Promise.race([new Promise(() => {}), (await import('node:timers/promises')).setTimeout(50)]); 1",
  "sends itself SIGINT": "process.kill(process.pid, 'SIGINT'); 1",
  "sends itself SIGWINCH": "process.kill(process.pid, 'SIGWINCH'); 1",
  "removes all listeners": "process.removeAllListeners(); 1",
  "starts a worker that throws":
    "new (await import('node:worker_threads')).Worker('throw 1', { eval: true }); 1",
  "closes its input": "process.stdin.destroy(); 1",
  "is no program": "let let let = ;;;)",
  redeclares: "const kept = 0; kept",
};

const frames: Record<string, (random: Random, kernel: FrontEnd) => Uint8Array[]> = {
  "no frames at all": () => [Buffer.alloc(0)],
  "bytes at random": (random) =>
    Array.from({ length: 1 + random.integer(8) }, () =>
      Buffer.from(Array.from({ length: random.integer(200) }, () => random.integer(256))),
    ),
  "a wrong signature": (_, kernel) =>
    kernel.frames(
      [{ msg_id: "x", msg_type: "execute_request" }, {}, {}, { code: "kept = 0" }],
      false,
    ),
  "a signed message without a type": (_, kernel) => kernel.frames([{ msg_id: "x" }, {}, {}, {}]),
  "a signed message of lists": (_, kernel) =>
    kernel.frames([[] as never, [] as never, [] as never, [] as never]),
  "a type that there is not": (_, kernel) =>
    kernel.frames([{ msg_id: "y", msg_type: "__proto__" }, {}, {}, {}]),
  "a signed message that is cut": (_, kernel) =>
    kernel.frames([{ msg_id: "z", msg_type: "execute_request" }]),
};

async function check(kernel: FrontEnd, kept: number): Promise<void> {
  const { result, error } = await kernel.execute("globalThis.kept");
  if (result?.["text/plain"] !== String(kept)) {
    throw new Broken("lost", `the variable is gone: ${JSON.stringify(result ?? error)}`);
  }
}

export const kernel: Area = {
  name: "kernel",
  share: 4,
  seconds: 90,
  make: (random) => {
    const kept = random.integer(1e6);
    const ways = ["cells", "cells", "cells", "frames", "interrupt", "stop", "kill"] as const;
    const way = random.choose(ways);
    const names = Array.from({ length: 3 }, () => random.choose(Object.keys(cells)));
    const frame = random.choose(Object.keys(frames));
    const channel = random.choose(["shell", "control", "stdin"] as const);
    const what = { cells: `a cell ${names.join(", then one ")}`, frames: `${channel}: ${frame}` };
    const name = way === "cells" || way === "frames" ? what[way] : `${way} while a cell runs`;
    return {
      name,
      promise:
        "variables stay and the next cell is answered; killed, a new kernel starts at its ports",
      run: async (place) => {
        const kernel = await FrontEnd.start({ cwd: place.folder });
        place.after(() => kernel.close());
        await kernel.execute(`globalThis.kept = ${kept}`);
        if (way === "cells") {
          for (const cell of names) await kernel.execute(cells[cell]!);
        } else if (way === "frames") {
          await kernel.raw(channel, frames[frame]!(random, kernel));
        } else {
          const running = kernel.start(`${begun} for (;;);`);
          running.finished.catch(() => undefined);
          await kernel.begun(running.id);
          await pause(random.integer(100));
          if (way === "stop") {
            kernel.process.kill("SIGSTOP");
            await pause(random.integer(500));
            kernel.process.kill("SIGCONT");
          }
          if (way === "kill") {
            kernel.process.kill("SIGKILL");
            await kernel.exited;
            const { connection } = kernel;
            await kernel.close();
            const next = await FrontEnd.start({ connection });
            place.after(() => next.close());
            assert.deepEqual((await next.execute("1 + 1")).result, { "text/plain": "2" });
            return "killed; the next one answers";
          }
          await kernel.request("control", "interrupt_request");
          assert.equal((await running.finished).reply.status, "error");
        }
        await check(kernel, kept);
        return "the variable is there";
      },
    };
  },
};
