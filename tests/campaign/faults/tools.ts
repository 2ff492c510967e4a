// Python for a model while its interpreters are killed, stopped or made to run out of something.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { pyodidePool } from "../../../src/tools/python/pyodide-python.js";
import type { Area } from "../attempt.js";

const programs: Record<string, string> = {
  "takes all memory": "x = []\nwhile True: x.append(bytearray(10**7))",
  "never ends": "while True: pass",
  "recurses without end": "def f(): return f()\nf()",
  exits: "import sys\nsys.exit(7)",
  raises: "raise ValueError('x' * 10**6)",
  "prints without end": "while True: print('x' * 1000)",
  "writes a large file": "open('/tmp/x', 'wb').write(b'0' * 10**8)",
  "is no Python": "def (:",
  "is very long": `x = [${"1,".repeat(50_000)}]\nlen(x)`,
};

export const tools: Area = {
  name: "tools",
  share: 2,
  seconds: 120,
  make: (random) => {
    const names = Array.from({ length: 3 }, () => random.choose(Object.keys(programs)));
    const ms = random.integer(400);
    const isKilled = random.uniform() < 0.5;
    return {
      name: `Python that ${names.join(", that ")}${isKilled ? `, killed after ${ms} ms` : ""}`,
      promise: "each call has an answer, and the next call starts from nothing",
      run: async (place) => {
        const pool = pyodidePool({ workers: 2, timeoutMs: 1500, memoryMb: 256, maxOutput: 10_000 });
        place.after(async () => await pool.dispose());
        await pool.warm();
        const running = Promise.all(names.map((name) => pool.run(programs[name]!)));
        if (isKilled) {
          await pause(ms);
          for (const pid of pool.pids) process.kill(pid, "SIGKILL");
        }
        const answers = await running;
        for (const { text } of answers)
          assert.ok(text.length < 20_000, `${text.length} characters`);
        const { text } = await pool.run("import os\n40 + 2, os.listdir('/tmp')");
        assert.equal(text, "(42, [])");
        return answers.map((answer) => answer.text.slice(-60)).join(" | ");
      },
    };
  },
};
