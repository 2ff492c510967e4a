import { type Browser, chromium } from "playwright-core";

/** The browser's program; tests of a tab need one. */
export const chromiumPath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", ...args] });
}
