// Firefox by WebDriver BiDi, which it speaks itself on a socket.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { type DrivenPage, inPage, outOfPage, type TabBrowser } from "./driven.js";

const places = [process.env["FIREFOX"], "/usr/bin/firefox-esr", "/usr/bin/firefox"];
const firefoxPath = places.find((path) => path !== undefined && existsSync(path));

const preferences = {
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false,
};

type Answer = Record<string, unknown>;

/** Questions to Firefox on its socket, each with its answer, and what it says unasked. */
class Bidi {
  readonly #asked = new Map<number, (answer: Answer) => void>();
  onEvent: (method: string, params: Answer) => void = () => undefined;
  #count = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => {
      const said = JSON.parse(data.toString()) as Answer;
      if (said["type"] === "event") {
        return this.onEvent(said["method"] as string, said["params"] as Answer);
      }
      const id = said["id"] as number;
      this.#asked.get(id)?.(said);
      this.#asked.delete(id);
    });
    socket.on("close", () => {
      for (const answer of this.#asked.values()) answer({ type: "error", message: "it has ended" });
    });
  }

  static async connect(address: string): Promise<Bidi> {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new Bidi(socket);
  }

  async ask(method: string, params: object): Promise<Answer> {
    const id = ++this.#count;
    const answer = await new Promise<Answer>((resolve) => {
      this.#asked.set(id, resolve);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer["type"] === "error") {
      throw new Error(`Firefox did not ${method}: ${String(answer["message"])}`);
    }
    return answer["result"] as Answer;
  }
}

/** The program on a profile of its own, and where it listens. */
async function start(profile: string): Promise<{ program: ChildProcess; address: string }> {
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, "user.js"), lines.join("\n"));
  const options = ["--headless", "--no-remote", "--profile", profile];
  const program = spawn(firefoxPath!, [...options, "--remote-debugging-port", "0"], {
    env: { ...process.env, HOME: profile },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const address = await new Promise<string>((resolve, reject) => {
    program.stderr.on("data", (data: Buffer) => {
      said += data.toString();
      const [, found] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    program.once("exit", () => reject(new Error(`Firefox ended at its start: ${said}`)));
  });
  return { program, address };
}

async function newPage(bidi: Bidi, heard: Map<string, string[]>): Promise<DrivenPage> {
  const { userContext } = await bidi.ask("browser.createUserContext", {});
  const made = await bidi.ask("browsingContext.create", { type: "tab", userContext });
  const context = made["context"] as string;
  const said: string[] = [];
  heard.set(context, said);
  return {
    said,
    goto: (url) => bidi.ask("browsingContext.navigate", { context, url, wait: "complete" }),
    async evaluate<T, A>(work: (given: A) => T | Promise<T>, given: A): Promise<T> {
      const { result, exceptionDetails } = (await bidi.ask("script.callFunction", {
        functionDeclaration: inPage(work),
        target: { context },
        arguments: [{ type: "string", value: JSON.stringify({ given }) }],
        awaitPromise: true,
      })) as { result?: { value: string }; exceptionDetails?: { text: string } };
      if (result === undefined) throw new Error(exceptionDetails?.text);
      return outOfPage<T>(result.value);
    },
    close: async () => void (await bidi.ask("browser.removeUserContext", { userContext })),
  };
}

export async function openFirefox(): Promise<TabBrowser> {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  const { program, address } = await start(profile);
  const bidi = await Bidi.connect(`${address}/session`);
  const { capabilities } = (await bidi.ask("session.new", { capabilities: {} })) as {
    capabilities: { browserVersion: string };
  };
  const heard = new Map<string, string[]>();
  bidi.onEvent = (_, { source, text }) =>
    heard.get((source as { context?: string }).context ?? "")?.push(String(text));
  await bidi.ask("session.subscribe", { events: ["log.entryAdded"] });
  return {
    name: `Firefox ${capabilities.browserVersion}`,
    newPage: () => newPage(bidi, heard),
    async close() {
      const ended = new Promise((done) => program.once("exit", done));
      program.kill("SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
