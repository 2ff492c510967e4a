import type { GivenFile } from "./messages.js";

/** Examples by name; their files lie in a script of their own, fetched when one is asked for. */
const examples = {
  "arpo-lab": "ARPO's trees, of this lab",
  verl: "verl",
  verifiers: "verifiers",
  trl: "TRL",
} as const;

/** The name of an example. */
export type ExampleName = keyof typeof examples;

/** What that script exports: files as base64. */
export type ExampleScript = Record<ExampleName, { name: string; base64: string }[]>;

export const examplesOf = (): { name: ExampleName; title: string }[] =>
  (Object.entries(examples) as [ExampleName, string][]).map(([name, title]) => ({ name, title }));

export async function exampleFiles(name: ExampleName): Promise<GivenFile[]> {
  const address = new URL("examples.js", import.meta.url).href;
  const { files } = (await import(address)) as { files: ExampleScript };
  return files[name].map(({ name, base64 }) => ({
    name,
    bytes: Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)),
  }));
}
