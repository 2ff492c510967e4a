// Writes demonstrations for SFT: some training questions, answered with the calls that stand beside them.
//
//   npx arpo-lab run demonstrations.ts 60
import { readFileSync, writeFileSync } from "node:fs";
import { ToolSet } from "arpo-lab/tools";
import tool from "./tool.js";

interface Row {
  prompt: { role: string; content: string }[];
  calls: string[];
}

const count = Number(process.argv[2] ?? 60);
const tools = new ToolSet([tool]);
const lines = readFileSync(new URL("data/train.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n");
const conversations = [];
for (const line of lines.slice(0, count)) {
  const { prompt, calls } = JSON.parse(line) as Row;
  let [text, result] = ["", ""];
  for (const call of calls) {
    result = (await tools.call(tool.tag, call)).text;
    text += `<${tool.tag}>${call}</${tool.tag}> <result>\n${result}\n</result>`;
  }
  const [system, user] = prompt.map(({ content }) => content);
  conversations.push({
    system,
    conversations: [
      { from: "human", value: user },
      { from: "gpt", value: `${text}<answer>${result}</answer>` },
    ],
  });
}
writeFileSync(
  new URL("data/demonstrations.json", import.meta.url),
  JSON.stringify(conversations, null, 1),
);
const info = { demonstrations: { file_name: "demonstrations.json", formatting: "sharegpt" } };
writeFileSync(new URL("data/dataset_info.json", import.meta.url), JSON.stringify(info));
console.log(`${conversations.length} demonstrations in data/demonstrations.json`);
