import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { buildPage } from "../../kernel/server/build-page.js";
import { LabServer, type LabOptions } from "../../kernel/server/lab-server.js";
import { temporaryFolder } from "../temporary.js";

// Debian's Chromium, or the one that CHROMIUM names.
const executable = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** For `test`'s `skip`: false where there is a browser, else why not. */
export const noBrowser = existsSync(executable) ? false : `there is no ${executable}`;

/** Where pictures go: to ARPO_LAB_SCREENSHOTS, else to a folder that git and the package leave out. */
const pictures =
  process.env["ARPO_LAB_SCREENSHOTS"] ??
  fileURLToPath(new URL("../../../node_modules/.cache/screenshots", import.meta.url));

/** A cell of a notebook's file. */
export function codeCell(id: string, source: string): Record<string, unknown> {
  return { cell_type: "code", execution_count: null, id, metadata: {}, outputs: [], source };
}

/** A notebook's file for our kernel. */
export function notebookFile(cells: Record<string, unknown>[]): string {
  const kernelspec = {
    name: "arpo-lab",
    display_name: "TypeScript (arpo-lab)",
    language: "typescript",
  };
  return JSON.stringify({ cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 });
}

interface App {
  commands: { execute(id: string, args?: unknown): Promise<void> };
  shell: { currentWidget: { context: { model: { dirty: boolean } } } };
}

/** Only in the page: the application, which the page offers by this name. */
declare const jupyterapp: App;

/** One tab of the lab in Chromium. */
export class Tab {
  constructor(
    readonly page: Page,
    readonly lab: BrowserLab,
    readonly name: string,
  ) {}

  /** Opens a notebook, alone in a workspace of the tab's own, and waits until its kernel is idle. */
  async open(path: string, origin = this.lab.server.url): Promise<void> {
    const place = `lab/workspaces/${this.name}/tree/${path}`;
    await this.page.goto(`${origin}${place}?token=${this.lab.server.token}`);
    await this.page.waitForSelector(".jp-Notebook .jp-CodeCell .cm-content");
    await this.idle();
  }

  async idle(): Promise<void> {
    await this.page.waitForSelector(
      '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook-ExecutionIndicator[data-status="idle"]',
      { state: "attached" }, // where the toolbar is too narrow it hides
    );
  }

  /** The selector of a cell, 1 for the first. */
  cell(n: number): string {
    return `.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell:nth-child(${n})`;
  }

  /** Runs a command of the application. */
  async command(id: string, args: Record<string, string> = {}): Promise<void> {
    // What a command gives, a widget say, stays in the page.
    await this.page.evaluate(
      async ([name, given]) => void (await jupyterapp.commands.execute(name, given)),
      [id, args] as const,
    );
  }

  /** Saves with the keyboard and waits until it is done. */
  async save(): Promise<void> {
    await this.page.click(`${this.cell(1)} .jp-InputPrompt`);
    await this.page.keyboard.press("Control+s");
    await this.saved();
  }

  async saved(): Promise<void> {
    await this.page.waitForFunction(
      () => jupyterapp.shell.currentWidget.context.model.dirty === false,
    );
  }

  async edit(n: number, source: string): Promise<void> {
    await this.page.click(`${this.cell(n)} .cm-content`);
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.insertText(source);
  }

  async run(n: number): Promise<void> {
    await this.page.click(`${this.cell(n)} .cm-content`);
    await this.page.keyboard.press("Control+Enter");
  }

  /** Waits until a cell's output has a text. */
  async output(n: number, text: string): Promise<void> {
    const area = this.page.locator(`${this.cell(n)} .jp-Cell-outputArea`);
    await area.filter({ hasText: text }).waitFor();
  }

  async outputText(n: number): Promise<string> {
    const area = this.page.locator(`${this.cell(n)} .jp-Cell-outputArea`);
    return (await area.textContent()) ?? "";
  }

  async picture(name: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    await this.page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}

/** A lab on a folder of its own with a browser, and what went wrong in its pages. */
export class BrowserLab {
  readonly folder: string;
  readonly server: LabServer;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Requests to elsewhere, errors of scripts, answers that are errors. */
  readonly complaints: string[] = [];
  #tabs = 0;

  private constructor(
    folder: string,
    server: LabServer,
    browser: Browser,
    context: BrowserContext,
  ) {
    this.folder = folder;
    this.server = server;
    this.browser = browser;
    this.context = context;
  }

  static async start(
    files: Record<string, string | Uint8Array>,
    options: Partial<LabOptions> = {},
  ): Promise<BrowserLab> {
    const folder = temporaryFolder("lab-browser");
    for (const [name, data] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), data);
    }
    const server = await LabServer.start({ folder, page: await buildPage(), ...options });
    const browser = await chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    return new BrowserLab(folder, server, browser, context);
  }

  async tab(): Promise<Tab> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(Number(process.env["ARPO_LAB_PATIENCE"] ?? 60_000));
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const { protocol, host } = new URL(request.url());
      const inside =
        ["data:", "blob:"].includes(protocol) || host === new URL(this.server.url).host;
      if (!inside) this.complaints.push(`outside: ${request.url()}`);
    });
    page.on("response", (response) => {
      // JupyterLab asks of each word behind a slash on standard error, such as that of a closing tag, whether it is a file.
      const asks = /\/api\/(resolvePath\?|contents\/\w+\?content=0&hash=0)/.test(response.url());
      if (response.status() >= 400 && !(response.status() === 404 && asks))
        this.complaints.push(`${response.status()} ${response.url()}`);
    });
    return new Tab(page, this, `tab-${++this.#tabs}`);
  }

  /** Ends everything and removes the folder; fails on complaints that `expected` does not match. */
  async stop(expected?: RegExp): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
    const unexpected = this.complaints.filter((text) => expected?.test(text) !== true);
    assert.deepEqual(unexpected, []);
  }
}
