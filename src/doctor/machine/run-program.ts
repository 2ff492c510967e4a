import { execFile } from "node:child_process";

/** What a program says, or undefined where there is none or it fails. */
export function runProgram(
  file: string,
  args: readonly string[],
  timeoutMs = 20_000,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, [...args], { timeout: timeoutMs }, (error, stdout, stderr) => {
      resolve(error ? undefined : (stdout || stderr).trim());
    });
  });
}

/** The first of several programs that answers, and the first line it says. */
export async function firstProgram(
  names: readonly (string | undefined)[],
  args: readonly string[],
): Promise<{ name: string; says: string } | undefined> {
  for (const name of names) {
    if (!name) continue;
    const says = await runProgram(name, args);
    if (says !== undefined) return { name, says: says.split("\n")[0]! };
  }
  return undefined;
}
