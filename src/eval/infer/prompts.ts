import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { nearest } from "../../../common/options/nearest.js";

const boxed =
  "Give the exact final answer, in LaTeX, inside \\boxed{} at the end of the answer block.";
const answerForm = "<answer> The answer is \\[ \\boxed{the answer} \\] </answer>";

const tools = {
  search: {
    name: "a search tool for facts",
    tag: "A search query stands between <search> and </search>; what it found comes back between <result> and </result>.",
    step: "<think> what to look up </think> <search> the query </search> <result> what was found </result>",
  },
  python: {
    name: "a Python interpreter for computing",
    tag: "Python code stands between <python> and </python>; what it printed comes back between <result> and </result>.",
    step: "<think> what to compute </think> <python> the code </python> <result> what it printed </result>",
  },
};

/** An English system message for some tools. */
function english(...names: (keyof typeof tools)[]): string {
  const own = names.map((name) => tools[name]);
  const named = own.map(({ name }) => name).join(" and ");
  const steps = own.map(({ step }) => step);
  return [
    `You solve the question you are given step by step${named ? `, with the help of ${named}` : ""}.`,
    "First reason in your mind, then answer: the reasoning stands between <think> and </think>, the answer between <answer> and </answer>.",
    ...(named ? ["While you reason you may call a tool whenever it helps."] : []),
    ...own.map(({ tag }) => tag),
    `For example: ${[...steps, `<think> what follows from it </think> ${answerForm}`].join(" ")}.`,
    boxed,
  ].join(" ");
}

const chinese = [
  "你是一位善于推理的助手，可以借助搜索工具查找事实，借助 Python 解释器进行计算，一步一步地解答问题。",
  "请先思考，再作答：思考过程写在 <think> 与 </think> 之间，答案写在 <answer> 与 </answer> 之间。",
  "思考时可以随时调用工具：搜索内容写在 <search> 与 </search> 之间，Python 代码写在 <python> 与 </python> 之间，工具的结果会出现在 <result> 与 </result> 之间。",
  "例如：<think> 要查什么 </think> <search> 搜索内容 </search> <result> 搜索结果 </result> <think> 要算什么 </think> <python> 代码 </python> <result> 输出 </result> <think> 由此得出 </think> <answer> 答案是 \\[ \\boxed{答案} \\] </answer>。",
  "最终的确切答案请以 LaTeX 格式写在答案末尾的 \\boxed{} 中。",
].join("\n");

const structured = [
  "You answer hard questions with a web search tool and a Python interpreter, working in small steps.",
  "",
  "## Form",
  "1. Reasoning stands between `<think>` and `</think>`.",
  "2. A call stands between `<search>` and `</search>` or between `<python>` and `</python>`.",
  "3. A tool's result comes back between `<result>` and `</result>`.",
  "4. The final answer stands between `<answer>` and `</answer>`, exact and in LaTeX inside `\\boxed{}`.",
  "",
  "## Way of working",
  "1. **Plan**: take the question apart, say what must be found out or computed, and with which tool.",
  "2. **Go in rounds**: one call at a time; read its result, correct the plan, go on until the answer is certain.",
  "3. **Tools**: search for facts, definitions and formulas; use Python for every calculation and for data. Trust them more than your memory.",
  "4. **Think briefly**: each reasoning block plans and judges, in less than 1,000 words; it does not carry the whole solution.",
  "5. **Answer**: only the final answer, without the way to it.",
].join("\n");

const react = [
  "You answer questions step by step by searching the web.",
  "- Action: <search> a query </search> asks for pages about it.",
  "- Observation: <result> what was found </result> is what the search gave.",
  `- Final answer: ${answerForm} ends the work.`,
  "You may search up to 10 times.",
].join("\n");

/** The system messages by their prompt type; `none` has no system message. */
const systems = {
  code_search: english("search", "python"),
  search: english("search"),
  math: english("python"),
  base: english(),
  code_search_cn: chinese,
  structured,
  react,
  none: "",
} as const;

/** What a model is told before the question. */
export type PromptType = keyof typeof systems;

/** Every prompt type. */
export const promptTypes = Object.keys(systems) as PromptType[];

/** The reference's names for the same. */
const aliases: Readonly<Record<string, PromptType>> = {
  gemini: "structured",
  claude: "structured",
};

/** The system message of a prompt type; a text with a space in it is a message of your own. */
export function systemMessage(prompt: string): string {
  const name = aliases[prompt] ?? prompt;
  if (Object.hasOwn(systems, name)) return systems[name as PromptType];
  if (/\s/.test(prompt)) return prompt;
  const close = nearest(prompt, promptTypes);
  throw new RangeError(
    `Cannot prompt: the type must be one of ${promptTypes.join(", ")}, got ${prompt}${close === undefined ? "" : `; did you mean ${close}?`}`,
  );
}

/** A question as a chat: the system message of a prompt type, then the bare question. */
export function promptMessages(prompt: string, question: string): ChatMessage[] {
  const system = systemMessage(prompt);
  return [
    ...(system === "" ? [] : [{ role: "system", content: system }]),
    { role: "user", content: question },
  ];
}
