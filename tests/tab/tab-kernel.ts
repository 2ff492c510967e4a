import assert from "node:assert/strict";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { until } from "../until.js";
import { startSite } from "./site.js";
import type { StaticHost } from "./static-host.js";

export type Json = Record<string, unknown>;
export interface Said {
  channel: string;
  type: string;
  parent: string;
  content: Json;
}

/** A kernel in a page's thread, as a front end has it. */
export class TabKernel {
  readonly said: Said[] = [];
  readonly console: string[] = [];
  #count = 0;

  private constructor(
    readonly site: StaticHost,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async start(browser: Browser, isolated: boolean, threads = 2): Promise<TabKernel> {
    const entries = {
      "kernel-page": "dist/tests/tab/work/kernel-page.js",
      "kernel-host": "dist/tests/tab/work/kernel-host.js",
    };
    const site = await startSite(entries, isolated, true);
    const context = await browser.newContext();
    const page = await context.newPage();
    const kernel = new TabKernel(site, context, page);
    page.on("console", (message) => kernel.console.push(message.text()));
    await page.exposeFunction("said", (message: Said) => void kernel.said.push(message));
    await page.goto(`${site.url}index.html`);
    await page.evaluate(
      async ([base, threads]) => {
        const { host } = (await import(
          `${base}kernel-host.js`
        )) as typeof import("./work/kernel-host.js");
        const { said } = globalThis as unknown as { said(m: unknown): void };
        Object.assign(globalThis, { kernel: host(base!, threads!, said) });
      },
      [site.url, String(threads)],
    );
    return kernel;
  }

  async send(channel: string, type: string, content: Json): Promise<string> {
    const id = `r${++this.#count}`;
    await this.page.evaluate(
      (message) => (globalThis as unknown as { kernel: Worker }).kernel.postMessage(message),
      { id, channel, type, content },
    );
    return id;
  }

  async reply(id: string): Promise<Json> {
    const found = await until(
      () => this.said.find(({ parent, type }) => parent === id && type.endsWith("_reply")),
      `an answer to ${id}; the page said ${this.console.join("; ")}`,
      240_000,
    );
    return found.content;
  }

  /** Sends a cell, and does not wait. */
  begin(code: string): Promise<string> {
    return this.send("shell", "execute_request", { code, silent: false, allow_stdin: true });
  }

  async finish(id: string): Promise<{ reply: Json; value: unknown; text: string }> {
    const reply = await this.reply(id);
    await until(
      () => this.said.find((m) => m.parent === id && m.content["execution_state"] === "idle"),
      "idle",
    );
    const mine = this.said.filter(({ parent }) => parent === id);
    const shown = mine.find(({ type }) => type === "execute_result")?.content["data"] as
      Json | undefined;
    const text = mine
      .filter(({ type }) => type === "stream")
      .map(({ content }) => content["text"])
      .join("");
    return { reply, value: shown?.["text/plain"], text };
  }

  async run(code: string): Promise<{ reply: Json; value: unknown; text: string }> {
    return await this.finish(await this.begin(code));
  }

  async value(code: string): Promise<unknown> {
    const { reply, value } = await this.run(code);
    assert.equal(reply["status"], "ok", JSON.stringify(reply));
    return value;
  }

  /** What a notebook would keep of a cell, as nbformat has it. */
  outputs(id: string): Json[] {
    const kept: Json[] = [];
    const shown = new Map<unknown, Json>();
    for (const { type, content, parent } of this.said) {
      const name = (content["transient"] as Json | undefined)?.["display_id"];
      const before = name === undefined ? undefined : shown.get(name);
      if (type === "update_display_data" && before) before["data"] = content["data"];
      if (parent !== id) continue;
      const last = kept.at(-1);
      if (type === "stream") {
        if (last?.["output_type"] === "stream" && last["name"] === content["name"])
          last["text"] = `${String(last["text"])}${String(content["text"])}`;
        else kept.push({ output_type: type, name: content["name"], text: content["text"] });
      } else if (type === "execute_result" || type === "display_data") {
        const output: Json = { output_type: type, data: content["data"] };
        if (name !== undefined) shown.set(name, output);
        kept.push(output);
      }
    }
    return kept;
  }

  /** Waits until a cell has printed something. */
  printed(id: string, text: string): Promise<unknown> {
    return until(
      () => this.said.find((m) => m.parent === id && String(m.content["text"]).includes(text)),
      `${id} to print ${text}`,
    );
  }

  async stop(): Promise<void> {
    await this.context.close();
    this.site.stop();
  }
}
