import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ToolSet } from "../tool-set.js";
import { pyodideEscapes } from "./testing/escapes-pyodide.js";
import { pyodidePool } from "./pyodide-python.js";
import { brokenText } from "./python-pool.js";
import { pythonTool } from "./python-tool.js";
import { sandboxUnavailableReason, systemPython } from "./system-python.js";
import { until } from "../../../tests/until.js";

const pool = pyodidePool({ workers: 1, timeoutMs: 2000, maxOutput: 1000 });
after(() => pool.dispose());
const text = async (code: string) => (await pool.run(code)).text;

test("PythonPool.run() lets nothing of a call survive it", async () => {
  await pool.run("import builtins, math, os\nbuiltins.leak = 1\nmath.pi = 3\nleak2 = 2");
  await pool.run("import os\nos.mkdir('/tmp/d'); os.chdir('/tmp/d'); open('f','w').write('x')");
  await pool.run("import os\nos.rename('/home', '/hidden'); f = open('/dev/null')");
  await pool.run("import sys\nsys.stdout = None; sys.modules['json'] = None");
  assert.equal(await text("'leak' in dir(__builtins__), 'leak2' in globals()"), "(False, False)");
  assert.equal(
    await text(
      "import os, math, json\n(os.getcwd(), os.listdir('/tmp'), os.path.exists('/home'), math.pi > 3.1)",
    ),
    "('/tmp', [], True, True)",
  );
});

test("PythonPool.run() stops code at its time limit and continues", async () => {
  const polite = await pool.run("while True: pass", { timeoutMs: 200 });
  assert.deepEqual([polite.text, polite.timedOut], ["Execution timed out after 0.2 seconds", true]);
  const before = pool.pids;
  const stubborn = await pool.run(
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    { timeoutMs: 200 },
  );
  assert.equal(stubborn.timedOut, true);
  assert.equal(await text("2+2"), "4");
  assert.notDeepEqual(pool.pids, before);
});

test("PythonPool.run() runs code again whose interpreter somebody else killed, while it started, before it ran or while it ran", async () => {
  const two = pyodidePool({ workers: 2, timeoutMs: 20_000 });
  after(() => two.dispose());
  const kill = () => two.pids.forEach((pid) => process.kill(pid, "SIGKILL"));
  const answer = two.run("40 + 1");
  await until(() => two.pids.length > 0, "an interpreter");
  kill();
  assert.equal((await answer).text, "41");
  await two.warm(1);
  assert.equal(two.pids.length, 2);
  kill();
  const answers = await Promise.all([two.run("40 + 2"), two.run("40 + 3")]);
  assert.deepEqual(
    answers.map((answer) => answer.text),
    ["42", "43"],
  );
  const slow = two.run("import time\ntime.sleep(1)\n7");
  setTimeout(kill, 300);
  assert.equal((await slow).text, "7");
});

test("PythonPool.run() reads line ends and outer space as Python reads a process's text", async () => {
  assert.equal(await text(String.raw`print("\x1c\r\n a\rb\r\nc\n\ufeff\x85")`), "a\nb\nc\n\ufeff");
});

test("PythonPool.run() says of an unknown name what every version of Python says", async () => {
  const last = async (code: string) => (await text(code)).split("\n").at(-1);
  assert.equal(await last("math.pi"), "NameError: name 'math' is not defined");
  assert.equal(
    await last("maths = 1\nmath.pi"),
    "NameError: name 'math' is not defined. Did you mean: 'maths'?",
  );
});

test("PythonPool.run() cuts long output with a notice", async () => {
  const run = await pool.run("print('é' * 5000)");
  assert.equal(
    run.text,
    `${"é".repeat(1000)}\n[output cut: the first 1000 characters of 10001 bytes]`,
  );
});

test("PythonPool.run() runs asyncio without a browser", async () => {
  const code = "import asyncio\nasync def f(x):\n  await asyncio.sleep(0.001)\n  return x\n";
  assert.equal(
    await text(`${code}async def g(): return await asyncio.gather(f(1), f(2))\nasyncio.run(g())`),
    "[1, 2]",
  );
});

test("PythonPool.run() rejects when its caller stops", async () => {
  const stop = new AbortController();
  const run = pool.run("while True: pass", { signal: stop.signal });
  setTimeout(() => {
    stop.abort(new Error("interrupted"));
  }, 50);
  await assert.rejects(run, /interrupted/);
  assert.equal(await text("1"), "1");
});

const tool = pythonTool({ workers: 1 });
after(() => tool.pool.dispose());

test("pythonTool() gives a traceback as an answer and empty output as no failure", async () => {
  const tools = new ToolSet([tool]);
  const broken = await tools.call("python", "1/0");
  assert.equal(broken.ok, true);
  assert.match(broken.text, /ZeroDivisionError: division by zero$/);
  const empty = await tools.call("python", "x = 1");
  assert.deepEqual([empty.ok, empty.retries], [true, 0]);
  assert.equal(empty.text, "Tool(python) returned empty output.");
});

test("pythonTool() is told the time by Python before the set ends the call", async () => {
  await tool.pool.run("1"); // Starting up takes part of a caller's time.
  const tools = new ToolSet([tool], { timeoutMs: 5000 });
  const { text, ok } = await tools.call("python", "while True: pass");
  assert.equal(ok, true);
  assert.equal(text, "Execution timed out after 4.5 seconds");
});

test("Pyodide's linker, bridge and struck modules cannot be reached by any name", async () => {
  const attempts = Object.entries(pyodideEscapes());
  assert.ok(attempts.length >= 30);
  for (const [name, code] of attempts) {
    const said = await text(code);
    assert.ok(!said.includes("ESCAPED"), `${name}: ${said}`);
    assert.notEqual(said, brokenText, name);
  }
  const library = `open("/tmp/x.so", "wb").close()\nimport sys\nsys.path.insert(0, "/tmp")\nimport x`;
  assert.match(
    await text(library),
    /ImportError: Cannot load a shared library: this sandbox has no linker$/,
  );
});

const skip = sandboxUnavailableReason() !== undefined && "LEFT OUT: no python3 in a sandbox here";

const programs = [
  "2+2",
  "x = 1",
  "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nf(20)",
  "def f():\n    g()\ndef g():\n    return [][1]\nf()",
  "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('worse') from e",
  "raise KeyError('k')",
  "import sys\nprint('out'); print('err', file=sys.stderr); sys.exit(2)",
  "import sys\nsys.exit('said')",
  "import sys\nsys.exit(0)",
  "1 +",
  "  x",
  "print(undefined)",
  "input()",
  "open('/nowhere')",
  "import collections\ncollections.Counter('abca').most_common(1)",
  "print('\\u4e2d', end='')",
  "from fractions import Fraction\nFraction(1, 3) + Fraction(1, 6)",
  "print(__name__); import sys; sys.argv",
  "import time\ntime.strftime('%H', time.localtime(0))",
  "import os, secrets, uuid, random\nlen(os.urandom(8)), len(secrets.token_hex(4)), len(str(uuid.uuid4())), 0 <= random.random() < 1",
];
test("Pyodide and the machine's Python say the same", { skip }, async () => {
  const { pool: system } = systemPython({ workers: 1, timeoutMs: 5000 });
  try {
    for (const code of programs) {
      const [a, b] = await Promise.all([pool.run(code), system.run(code)]);
      assert.deepEqual(a, b, code);
    }
  } finally {
    await system.dispose();
  }
});
