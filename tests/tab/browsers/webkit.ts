// WebKitGTK's own small browser by its WebDriver, on a screen that nobody sees.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../free-port.js";
import { until } from "../../until.js";
import { type DrivenPage, inPage, outOfPage, type TabBrowser } from "./driven.js";

function miniBrowser(): string | undefined {
  for (const machine of existsSync("/usr/lib") ? readdirSync("/usr/lib") : []) {
    for (const version of ["webkit2gtk-4.1", "webkit2gtk-4.0", "webkitgtk-6.0"]) {
      const path = join("/usr/lib", machine, version, "MiniBrowser");
      if (existsSync(path)) return path;
    }
  }
  return undefined;
}

/** A screen in memory; gives its name once it is there. */
async function openScreen(): Promise<{ screen: ChildProcess; display: string }> {
  const options = ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"];
  const screen = spawn("/usr/bin/Xvfb", options, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const number = await new Promise<string>((resolve, reject) => {
    screen.stdio[3]!.once("data", (data: Buffer) => resolve(data.toString().trim()));
    screen.once("exit", () => reject(new Error("Xvfb ended before it had a screen")));
  });
  return { screen, display: `:${number}` };
}

/** No screen and no graphics card of the machine's. */
const quiet = { GDK_BACKEND: "x11", LIBGL_ALWAYS_SOFTWARE: "1" };

type Ask = (method: string, path: string, body?: object) => Promise<unknown>;

/** The driver's questions; WebDriver has a path for each. */
const askAt =
  (port: number): Ask =>
  async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await answer.json()) as { value: { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`WebKit did not ${path}: ${value.error} ${value.message}`);
    return value;
  };

interface Session {
  sessionId: string;
  capabilities: { browserName: string; browserVersion: string };
}

const session = {
  browserName: "MiniBrowser",
  timeouts: { script: 280_000, pageLoad: 280_000 },
};

interface Started {
  session: Session;
  /** Asks of the session. */
  ask: Ask;
  stop(): void;
}

/** A driver and a browser of its own for each page: a driver has one session at a time. */
async function startDriver(display: string, binary: string): Promise<Started> {
  const port = await freePort();
  const driver = spawn("/usr/bin/WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], {
    // Memory that threads share is off in WebKitGTK, and on in Safari where a page is isolated.
    env: { ...process.env, ...quiet, DISPLAY: display, JSC_useSharedArrayBuffer: "1" },
    stdio: "ignore",
    detached: true,
  });
  const stop = () => {
    try {
      process.kill(-driver.pid!, "SIGKILL");
    } catch {
      // It and its browser are gone.
    }
  };
  const ask = askAt(port);
  try {
    await until(() => ask("GET", "/status").catch(() => undefined), "WebKit's driver");
    const browserOptions = { binary, args: ["--automation"] };
    const made = (await ask("POST", "/session", {
      capabilities: { alwaysMatch: { ...session, "webkitgtk:browserOptions": browserOptions } },
    })) as Session;
    const at = `/session/${made.sessionId}`;
    return { session: made, stop, ask: (method, path, body) => ask(method, at + path, body) };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Once more where it fails: Debian 12's driver may die of a segmentation fault as its browser opens. */
const twice = <T>(work: () => Promise<T>): Promise<T> => work().catch(work);

async function newPage(
  display: string,
  binary: string,
): Promise<DrivenPage & { session: Session }> {
  let started = await twice(() => startDriver(display, binary));
  let fresh = true;
  return {
    session: started.session,
    said: [],
    async goto(url) {
      try {
        await started.ask("POST", "/url", { url });
      } catch (error) {
        // Nothing is lost with a page that had not been anywhere.
        if (!fresh) throw error;
        started.stop();
        started = await startDriver(display, binary);
        await started.ask("POST", "/url", { url });
      }
      fresh = false;
    },
    async evaluate<T, A>(work: (given: A) => T | Promise<T>, given: A): Promise<T> {
      const script = `const [given, done] = arguments; (${inPage(work)})(given).then(done);`;
      const args = [JSON.stringify({ given })];
      return outOfPage<T>(
        (await started.ask("POST", "/execute/async", { script, args })) as string,
      );
    },
    async close() {
      await started.ask("DELETE", "").catch(() => undefined);
      started.stop();
    },
  };
}

export async function openWebKit(): Promise<TabBrowser> {
  const binary = miniBrowser();
  if (binary === undefined) throw new Error("Cannot open WebKit: there is no MiniBrowser");
  const { screen, display } = await openScreen();
  const first = await newPage(display, binary);
  const { browserName, browserVersion } = first.session.capabilities;
  await first.close();
  return {
    name: `WebKitGTK's ${browserName} ${browserVersion}`,
    newPage: () => newPage(display, binary),
    close: () => Promise.resolve(void screen.kill("SIGKILL")),
  };
}
