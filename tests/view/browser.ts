import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket } from "ws";

const names = ["chromium", "chromium-browser", "google-chrome"];
const places = (process.env["PATH"] ?? "").split(delimiter);

/** A browser's program, if there is one here. */
export const browserPath: string | undefined = places
  .flatMap((place) => names.map((name) => join(place, name)))
  .find((path) => existsSync(path));

/** A page open in a browser of its own. */
export interface Page {
  /** What an expression gives in the page. */
  evaluate: (expression: string) => Promise<unknown>;
  /** Keeps a picture of the page where `ARPO_LAB_SCREENSHOTS` names a folder. */
  screenshot: (name: string) => Promise<void>;
  /** Errors nobody caught. */
  errors: string[];
  close: () => Promise<void>;
}

interface Message {
  id?: number;
  method?: string;
  params?: { exceptionDetails?: { exception?: { description?: string }; text: string } };
  result?: {
    result?: { value?: unknown };
    exceptionDetails?: { text: string };
    /** A picture, in base64. */
    data?: string;
  };
}

/** Opens HTML in a headless browser. */
export async function openPage(html: string): Promise<Page> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-page-"));
  const file = join(folder, "page.html");
  await writeFile(file, `<!doctype html><meta charset="utf-8"><body>${html}</body>`);
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
  ];
  const own = [`--user-data-dir=${join(folder, "profile")}`, "--remote-debugging-port=0"];
  const browser = spawn(browserPath!, [...flags, ...own, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true, // so that the processes it starts end with it
  });
  let told = "";
  const address = await new Promise<string>((resolve, reject) => {
    browser.once("exit", () => reject(new Error(`Cannot open a page: the browser ended\n${told}`)));
    browser.stderr.on("data", (chunk: Buffer) => {
      told += chunk.toString();
      const match = /ws:\/\/\S+/.exec(told);
      if (match) resolve(match[0]);
    });
  });
  const targets = await fetch(`http://127.0.0.1:${new URL(address).port}/json`);
  const list = (await targets.json()) as { type: string; webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(list.find((t) => t.type === "page")!.webSocketDebuggerUrl);
  await once(socket, "open");
  const errors: string[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    const details = message.params?.exceptionDetails;
    if (message.method === "Runtime.exceptionThrown" && details) {
      errors.push(details.exception?.description ?? details.text);
    }
  });
  let last = 0;
  const send = (method: string, params: object = {}) =>
    new Promise<Message>((resolve) => {
      waiting.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  const evaluate = async (expression: string) => {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result } = await send("Runtime.evaluate", options);
    if (result?.exceptionDetails) throw new Error(JSON.stringify(result));
    return result?.result?.value;
  };
  await send("Runtime.enable");
  await send("Page.enable");
  await send("Page.navigate", { url: pathToFileURL(file).href });
  const ready = `location.protocol === "file:" && document.readyState === "complete"`;
  while (!(await evaluate(ready))) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    evaluate,
    screenshot: async (name) => {
      const pictures = process.env["ARPO_LAB_SCREENSHOTS"];
      if (pictures === undefined) return;
      const params = { format: "png", captureBeyondViewport: true };
      const { result } = await send("Page.captureScreenshot", params);
      await mkdir(pictures, { recursive: true });
      await writeFile(join(pictures, `${name}.png`), Buffer.from(result!.data!, "base64"));
    },
    errors,
    close: async () => {
      socket.close();
      const ended = once(browser, "exit");
      process.kill(-browser.pid!);
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
