import { type Browser, chromium } from "playwright-core";
import type { TabBrowser } from "./driven.js";

/** The browser's program; tests of a tab need one. */
export const chromiumPath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", ...args] });
}

/** Chromium as one browser among others. */
export const asTabBrowser = (browser: Browser): TabBrowser => ({
  name: `Chromium ${browser.version()}`,
  async newPage() {
    const context = await browser.newContext();
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    return {
      said,
      goto: (address) => page.goto(address),
      evaluate: (work, given) => page.evaluate(work as never, given),
      close: () => context.close(),
    };
  },
  close: () => browser.close(),
});

export const openChromium = async (args: readonly string[] = []): Promise<TabBrowser> =>
  asTabBrowser(await launchChromium(args));
