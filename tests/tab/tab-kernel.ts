import assert from "node:assert/strict";
import { until } from "../until.js";
import type { DrivenPage, TabBrowser } from "./browsers/driven.js";
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
  #count = 0;
  #stopped = false;

  private constructor(
    readonly site: StaticHost,
    readonly page: DrivenPage,
  ) {}

  static async start(browser: TabBrowser, isolated: boolean, threads = 2): Promise<TabKernel> {
    const entries = {
      "kernel-page": "dist/tests/tab/work/kernel-page.js",
      "kernel-host": "dist/tests/tab/work/kernel-host.js",
    };
    const site = await startSite(entries, isolated, true);
    const page = await browser.newPage();
    const kernel = new TabKernel(site, page);
    await page.goto(`${site.url}index.html`);
    await page.evaluate(
      async ([base, threads]) => {
        const { host } = (await import(
          `${base}kernel-host.js`
        )) as typeof import("./work/kernel-host.js");
        const said: unknown[] = [];
        Object.assign(globalThis, { said, kernel: host(base!, threads!, (m) => said.push(m)) });
      },
      [site.url, String(threads)],
    );
    void kernel.#listen();
    return kernel;
  }

  /** Takes what the kernel says out of the page, until it is stopped. */
  async #listen(): Promise<void> {
    while (!this.#stopped) {
      const said = await this.page
        .evaluate(() => (globalThis as unknown as { said: Said[] }).said.splice(0), undefined)
        .catch(() => []);
      this.said.push(...said);
      await new Promise((later) => setTimeout(later, 10));
    }
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
      `an answer to ${id}; the page said ${this.page.said.join("; ")}`,
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
    this.#stopped = true;
    await this.page.close();
    this.site.stop();
  }
}
