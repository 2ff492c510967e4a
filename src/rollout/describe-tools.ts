import { isRecord } from "../../common/options/is-record.js";
import { resultMarks } from "../base/text/result-block.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import { chatIn, type PromptTask } from "../policy/prompt.js";
import type { FunctionDefinition } from "../tools/calls/call-format.js";

// What a model reads that was not trained to call these tools, where its chat template shows none.

/** A schema may come from a server: it is shown so deep, and so long. */
const deepest = 4;
const longest = 8000;
const longestWords = 300;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

const said = (value: unknown): string =>
  cut(typeof value === "string" ? value.trim() : "", longestWords);

/** What a value may be, in words: its type, the values of an enumeration, one of several. */
function typeIn(schema: Record<string, unknown>, depth: number): string {
  if (depth > deepest) return "any";
  const { type, enum: values, const: only, items, anyOf, oneOf } = schema;
  if (Array.isArray(values))
    return `one of ${cut(values.map((v) => JSON.stringify(v)).join(", "), longestWords)}`;
  if (only !== undefined) return JSON.stringify(only);
  const either = [anyOf, oneOf].find(Array.isArray) as unknown[] | undefined;
  if (either)
    return either
      .slice(0, 8)
      .map((one) => (isRecord(one) ? typeIn(one, depth + 1) : "any"))
      .join(" or ");
  if (type === "array") return `list of ${isRecord(items) ? typeIn(items, depth + 1) : "any"}`;
  return Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "any";
}

/** The arguments of a schema, a line each; those of an object in it stand below it. */
function argumentLines(schema: Record<string, unknown>, indent: string, depth: number): string[] {
  const { properties, required } = schema;
  if (!isRecord(properties) || depth > deepest) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, given]) => {
    const own = isRecord(given) ? given : {};
    const optional = needed.includes(name) ? "" : ", optional";
    const usual =
      own["default"] === undefined ? "" : `, default ${cut(JSON.stringify(own["default"]), 60)}`;
    const words = said(own["description"]);
    const inner = isRecord(own["items"]) && own["properties"] === undefined ? own["items"] : own;
    return [
      `${indent}- ${name} (${cut(typeIn(own, depth), longestWords)}${optional}${usual})${words && `: ${words}`}`,
      ...argumentLines(inner, `${indent}  `, depth + 1),
    ];
  });
}

/** Whether a tool takes one text, which stands between its tags as it is. */
function takesText({ properties }: Record<string, unknown>): boolean {
  if (!isRecord(properties)) return false;
  const [only, ...others] = Object.values(properties);
  return (
    others.length === 0 && isRecord(only) && only["type"] === "string" && only["enum"] === undefined
  );
}

function toolText({ function: { name, description, parameters } }: FunctionDefinition): string {
  const schema = parameters as Record<string, unknown>;
  const [lines, words] = [argumentLines(schema, "  ", 1), said(description)];
  const head = `<${name}>${words && ` ${words}`}`;
  if (lines.length === 0) return `${head} It takes nothing: <${name}></${name}>`;
  if (takesText(schema)) return `${head} Write <${name}>text</${name}>`;
  return [`${head} Write <${name}>{JSON}</${name}> with these arguments:`, ...lines].join("\n");
}

/** The tools in words for a system message: what each does and takes, and how it is called by its tag. */
function toolsText(tools: readonly FunctionDefinition[]): string {
  const { open, close } = resultMarks;
  const how = `You can use tools. To call one, write its tag with the input inside. Its answer follows between ${open.trim()} and ${close.trim()}; then go on.`;
  return cut([how, ...tools.map(toolText)].join("\n"), longest);
}

/** A task with its tools described in the system message: what is said of them stands behind what it said before. */
export function describedIn(task: PromptTask, tools: readonly FunctionDefinition[]): PromptTask {
  const chat = chatIn(task);
  if (!chat || tools.length === 0) return task;
  const [first, ...rest] = chat;
  const text = toolsText(tools);
  const prompt: ChatMessage[] =
    first?.role === "system"
      ? [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
      : [{ role: "system", content: text }, ...chat];
  return { ...task, prompt };
}
