import type { Browser } from "playwright-core";
import type { StaticHost } from "./static-host.js";

export interface WorkerAnswer<T> {
  answer: T;
  /** What the page's console said. */
  said: string[];
}

/** What a worker of a site's page answers when it is given some work; its error where it fails. */
export async function askWorker<T extends object>(
  browser: Browser,
  site: StaticHost,
  name: string,
  work: unknown,
): Promise<WorkerAnswer<T>> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    await page.goto(`${site.url}index.html`);
    const answer = await page.evaluate(
      ([script, asked]) =>
        new Promise<unknown>((resolve) => {
          const worker = new Worker(script, { type: "module" });
          worker.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data);
          worker.onerror = ({ message }) => resolve({ error: message });
          worker.postMessage(asked);
        }),
      [`${name}.js`, work] as const,
    );
    const found = answer as T | { error: string };
    if ("error" in found) throw new Error(`${found.error}\n${said.join("\n")}`);
    return { answer: found, said };
  } finally {
    await context.close();
  }
}
