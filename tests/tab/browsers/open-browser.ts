import { openChromium } from "./chromium.js";
import type { TabBrowser } from "./driven.js";
import { openFirefox } from "./firefox.js";
import { openWebKit } from "./webkit.js";

const browsers: Readonly<Record<string, () => Promise<TabBrowser>>> = {
  chromium: openChromium,
  firefox: openFirefox,
  webkit: openWebKit,
};

/** The browser that `ARPO_LAB_TAB_BROWSER` names: Chromium where it names none. */
export function openBrowser(): Promise<TabBrowser> {
  const name = process.env["ARPO_LAB_TAB_BROWSER"] ?? "chromium";
  const open = browsers[name];
  if (open === undefined) {
    const known = Object.keys(browsers).join(", ");
    throw new RangeError(
      `Cannot open a browser: ARPO_LAB_TAB_BROWSER must be ${known}, got ${name}`,
    );
  }
  return open();
}
