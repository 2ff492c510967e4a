import { sharesMemory } from "#platform/process";
import type { FromServer } from "../server/messages.js";

/** A quiet line at the bottom of the page: what is loading, and what a reader should know. */
export class Bar {
  readonly #line = document.createElement("div");

  constructor() {
    this.#line.setAttribute("role", "status");
    this.#line.style.cssText =
      "position:fixed;left:0;bottom:0;z-index:10000;max-width:100%;padding:2px 8px;font:12px system-ui,sans-serif;background:#eee;color:#222;border-radius:0 4px 0 0";
  }

  say(text: string, actions: Record<string, () => void> = {}): void {
    this.#line.replaceChildren(text);
    for (const [name, act] of Object.entries(actions)) {
      const button = document.createElement("button");
      button.textContent = name;
      button.style.cssText = "margin-left:8px;font:inherit";
      button.onclick = act;
      this.#line.append(button);
    }
    if (!this.#line.isConnected) document.body.append(this.#line);
  }

  clear(): void {
    this.#line.remove();
  }
}

const alone = "one thread computes, a loop ends only by restarting the kernel";

/** What a state of the server means to a reader; undefined where there is nothing to say. */
export function stateText(state: Extract<FromServer, { type: "state" }>): string | undefined {
  if (!state.writes) return "This lab is open in another tab: here you can read and run, not save.";
  const names = state.newer.map((name) => name.replace(/^.*\//, "")).join(", ");
  const said = [
    state.keeps || "This browser keeps no files here: download what you want to keep.",
    state.newer.length === 0 ||
      `${names} changed since you did: your copy is kept, the new one lies beside it.`,
    crossOriginIsolated ||
      `No service worker here, as in a private window: ${alone}, and nothing opens without a network.`,
    !crossOriginIsolated ||
      sharesMemory() ||
      `The threads of this browser share no memory: ${alone}.`,
  ].filter((text) => typeof text === "string");
  return said.length === 0 ? undefined : said.join(" ");
}
