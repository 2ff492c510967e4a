/** What the user asked, out of a prompt that may be a whole chat template. */
export function questionOf(prompt: string): string {
  const turns = [
    ...prompt.matchAll(/<\|im_start\|>user\n([^]*?)(?:<\|im_end\|>|$)/g),
    ...prompt.matchAll(/\[INST\]([^]*?)(?:\[\/INST\]|$)/g),
  ];
  const said = (turns.at(-1)?.[1] ?? prompt)
    .replace(/<\|[^|>]*\|>/g, "\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(<\/?think>|assistant|user|system):?$/i.test(line));
  return said.at(-1)?.replace(/^(user|question|q):\s*/i, "") ?? "";
}
