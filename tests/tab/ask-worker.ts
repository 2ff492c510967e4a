import type { TabBrowser } from "./browsers/driven.js";
import type { StaticHost } from "./static-host.js";

/** What a worker of a site's page answers when it is given some work; its error where it fails. */
export async function askWorker<T extends object>(
  browser: TabBrowser,
  site: StaticHost,
  name: string,
  work: unknown,
): Promise<T> {
  const page = await browser.newPage();
  try {
    await page.goto(`${site.url}index.html`);
    const found = await page.evaluate(
      ([script, asked]) =>
        new Promise<unknown>((resolve) => {
          const worker = new Worker(script, { type: "module" });
          worker.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data);
          worker.onerror = ({ message }) => resolve({ error: message });
          const late = "the page works, and its worker has not answered for 600 s";
          setTimeout(() => resolve({ error: late }), 600_000);
          worker.postMessage(asked);
        }),
      [`${name}.js`, work] as const,
    );
    const answer = found as T | { error: string };
    if ("error" in answer) throw new Error(`${answer.error}\n${page.said.join("\n")}`);
    return answer;
  } finally {
    await page.close();
  }
}
