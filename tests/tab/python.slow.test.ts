import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { pyodidePool } from "../../src/tools/python/pyodide-python.js";
import { contained, limits } from "../../src/tools/python/testing/contained.js";
import { costly, leavesNothing, leftovers } from "../../src/tools/python/testing/leftovers.js";
import type { PythonRun } from "../../src/tools/python/python-pool.js";
import { createServer } from "node:http";
import type { TabBrowser } from "./browsers/driven.js";
import { openBrowser } from "./browsers/open-browser.js";
import { TabKernel } from "./tab-kernel.js";

let browser: TabBrowser;
let kernel: TabKernel;
before(async () => {
  browser = await openBrowser();
  kernel = await TabKernel.start(browser, true);
  await kernel.value(
    `import { pyodidePool } from "arpo-lab/experimental/tools"; const pool = pyodidePool(${JSON.stringify(limits)}); pool.size`,
  );
});
after(async () => {
  // Without one where it could not be started: the browser must not stay then.
  await (kernel as TabKernel | undefined)?.stop();
  await browser.close();
});

/** A pool of the tab, as if it were one of Node. */
const pool = {
  run: async (code: string): Promise<PythonRun> => {
    const { text, reply } = await kernel.run(
      `console.log(JSON.stringify(await pool.run(${JSON.stringify(code)})))`,
    );
    assert.equal(reply["status"], "ok", JSON.stringify(reply));
    return JSON.parse(text) as PythonRun;
  },
  warm: async () => void (await kernel.value("await pool.warm(); pool.size")),
  dispose: async () => void (await kernel.value("await pool.dispose(); pool.size")),
};

test("a call leaves nothing: descriptors, files, times, numbers, settings", async () => {
  await leavesNothing(
    pool,
    Object.keys(leftovers).filter((name) => !costly.includes(name)),
  );
});

test("a name that was looked up is forgotten, and a call that breaks its interpreter fails alone", async () => {
  await pool.run('import socket\nsocket.gethostbyname("a.secret")');
  const { text } = await pool.run('import socket\nsocket.gethostbyaddr("172.29.1.0")');
  assert.ok(!text.includes("secret"), text);
  const broken = await pool.run("import os\nos.abort()");
  assert.deepEqual([broken.ok, broken.status], [false, undefined]);
  assert.equal((await pool.run("print('whole')")).text, "whole");
});

test("Python answers as it does in Node, to the byte", async () => {
  const node = pyodidePool({ ...limits, timeoutMs: 60_000 });
  try {
    for (const code of [
      "import math\nmath.comb(10, 3)",
      "sum(1 / n for n in range(1, 1000)), 2 ** 0.5, math.pi if 'math' in dir() else None",
      "import random\nrandom.seed(3)\nrandom.random(), hash('a')",
      "import sympy\nsympy.factor(sympy.symbols('x') ** 4 - 1)",
      "1 / 0",
      "def f(:",
      "print('é', '\\U0001f600')\nimport sys\nprint('x', file=sys.stderr)\nraise SystemExit(3)",
      "import time, os, sys\ntime.localtime(0)[:6], time.mktime((2024, 7, 1, 0, 0, 0, 0, 0, 0)), time.tzname, os.environ, sys.version",
      "import datetime\ndatetime.datetime.fromtimestamp(86400 * 200.5)",
      "open('/tmp/a', 'w').write('x')\nimport os\nos.listdir('/tmp'), os.listdir('/')",
    ]) {
      const [here, there] = [await pool.run(code), await node.run(code)];
      assert.deepEqual(here, there, code);
    }
  } finally {
    await node.dispose();
  }
});

test("the frame contains every escape attempt and stays healthy", async () => {
  await contained(pool, "the frame");
});

test("nor would JavaScript in the frame get anywhere, were it ever reached", async () => {
  let visitors = 0;
  const target = createServer((_, response) => {
    visitors++;
    response.setHeader("access-control-allow-origin", "*");
    response.end("reached");
  });
  target.on("upgrade", (_, socket) => {
    visitors++;
    socket.destroy();
  });
  await new Promise<void>((listening) => target.listen(0, "127.0.0.1", listening));
  try {
    const { port } = target.address() as { port: number };
    const said = await kernel.page.evaluate(
      async ([base, url]) => {
        const { attempts } = (await import(
          `${base}kernel-host.js`
        )) as typeof import("./work/kernel-host.js");
        return await attempts(base!, url!);
      },
      [kernel.site.url, `http://127.0.0.1:${port}/`],
    );
    assert.equal(said.origin, "null");
    assert.ok(said.tried >= 27);
    assert.deepEqual(said.reached, []);
    assert.equal(visitors, 0);
  } finally {
    target.closeAllConnections();
    target.close();
  }
});
