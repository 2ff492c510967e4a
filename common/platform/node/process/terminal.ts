import { createInterface } from "node:readline/promises";

/** Asks whoever sits at the terminal. */
export async function askTerminal(message: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(message);
  } finally {
    terminal.close();
  }
}
