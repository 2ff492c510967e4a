// A coding agent's connection to `arpo-lab mcp`, by the official client.
import { Client, StdioClientTransport } from "#mcp";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

/** What a tool answered: its text, and whether it says that nothing was done. */
export interface Answered {
  text: string;
  isError: boolean;
}

/** How `arpo-lab mcp` is started: with the labs that `data` says run, in a folder. */
export const mcpProgram = (data: string, cwd: string, args: string[] = []) => ({
  command: process.execPath,
  args: [bin, "mcp", ...args],
  env: { ...(process.env as Record<string, string>), ARPO_LAB_DATA: data },
  cwd,
  stderr: "inherit" as const,
});

/** An agent that asks. */
export class LabAgent {
  private constructor(readonly client: Client) {}

  static async start(
    program: ReturnType<typeof mcpProgram>,
    options: { name?: string; modern?: boolean } = {},
  ): Promise<LabAgent> {
    const { name = "test agent", modern = true } = options;
    const client = new Client(
      { name, version: "1" },
      modern ? { versionNegotiation: { mode: "auto" } } : {},
    );
    await client.connect(new StdioClientTransport(program));
    return new LabAgent(client);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Answered> {
    const { content, isError } = await this.client.callTool({ name, arguments: args });
    const text = (content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
    return { text, isError: isError === true };
  }

  /** What an answer carries as data; throws where nothing was done. */
  async data(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
    const { text, isError } = await this.call(name, args);
    if (isError) throw new Error(text);
    return dataOf(text);
  }

  async stop(): Promise<void> {
    await this.client.close();
  }
}

/** The data between the two lines that mark it. */
export function dataOf(text: string): unknown {
  const [, word] = /^--- data ([0-9a-f]{12}): /m.exec(text) ?? [];
  if (word === undefined) throw new Error(`there is no data in: ${text}`);
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`--- data ${word}: `));
  const to = lines.lastIndexOf(`--- end of data ${word} ---`);
  return JSON.parse(lines.slice(from + 1, to).join("\n")) as unknown;
}
