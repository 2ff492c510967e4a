// Completion and inspection of a cell's magic lines; inside values TypeScript answers.
import type { MimeBundle } from "../../host/host.js";
import type { Completion } from "../../contract/compiler.js";
import { builtins } from "./registry.js";
import { type MagicLine, readHead } from "./head.js";
import { readOptions } from "./options.js";
import { choices, isText, type Stage, type StageOption } from "../../contract/stage.js";

type Stages = ReadonlyMap<string, Stage>;

function lineAt(source: string, position: number): MagicLine | undefined {
  const { lines } = readHead(source);
  return lines.find(({ start, end }) => position >= start && position <= end);
}

const intoOption: StageOption = { doc: "The name of what the cell makes.", type: "string" };

function optionsOf(stage: Stage): Record<string, StageOption> {
  return stage.into === undefined ? stage.options : { ...stage.options, into: intoOption };
}

/** Names and options at a position of a magic line; undefined where TypeScript should answer. */
export function completeMagic(
  source: string,
  position: number,
  stages: Stages,
): Completion | undefined {
  const line = lineAt(source, position);
  if (line === undefined || position < line.start + 2) return undefined;
  if (position <= line.nameEnd) {
    const all = [
      ...[...stages.values()].map(({ name, doc }) => ({ name, doc })),
      ...Object.entries(builtins).map(([name, { doc }]) => ({ name, doc })),
    ];
    const items = all.map(({ name, doc }) => ({ text: name, type: "magic", documentation: doc }));
    return pick(items, source, line.start + 2, line.nameEnd, position);
  }
  const stage = stages.get(line.name);
  if (stage === undefined) return completeWords(source, position, line);
  const options = optionsOf(stage);
  const written = readOptions(source, line.nameEnd, line.end);
  const here = written.find(
    ({ keyStart, valueEnd }) => position >= keyStart && position <= valueEnd,
  );
  if (here?.value !== undefined && position >= here.valueStart) {
    const option = options[here.key];
    const allowed = option && choices(option);
    if (option === undefined || (allowed === undefined && !isText(option))) return undefined;
    const items = (allowed ?? []).map((text) => ({ text, type: "value" }));
    return pick(items, source, here.valueStart, here.valueEnd, position);
  }
  const taken = new Set(written.filter((option) => option !== here).map(({ key }) => key));
  const items = Object.entries(options)
    .filter(([name]) => !taken.has(name))
    .map(([name, { doc, type }]) => ({
      text: `${name}=`,
      type: "property",
      signature: type,
      documentation: doc,
    }));
  const start = here?.keyStart ?? position;
  return pick(items, source, start, here === undefined ? start : start + here.key.length, position);
}

function completeWords(source: string, position: number, line: MagicLine): Completion {
  const words = Object.entries(builtins[line.name]?.words ?? {});
  const items = words.map(([text, documentation]) => ({ text, type: "value", documentation }));
  const typed = /(?<![\w-])[\w-]*$/.exec(source.slice(line.nameEnd, position))?.[0] ?? "";
  return pick(items, source, position - typed.length, position, position);
}

function pick(
  items: Completion["items"],
  source: string,
  start: number,
  end: number,
  position: number,
): Completion {
  const typed = source.slice(start, position).toLowerCase();
  const fitting = items.filter(({ text }) => text.toLowerCase().startsWith(typed));
  return { matches: fitting.map(({ text }) => text), items: fitting, start, end };
}

/** What a magic or an option is for; undefined where TypeScript should answer. */
export function inspectMagic(
  source: string,
  position: number,
  stages: Stages,
): MimeBundle | undefined {
  const line = lineAt(source, position);
  if (line === undefined) return undefined;
  const stage = stages.get(line.name);
  if (position <= line.nameEnd) {
    if (stage !== undefined) return describeStage(stage);
    const builtin = builtins[line.name];
    return builtin && text(`%%${line.name}`, builtin.doc);
  }
  const here = readOptions(source, line.nameEnd, line.end).find(
    ({ keyStart, key }) => position >= keyStart && position <= keyStart + key.length,
  );
  const option = here && stage && optionsOf(stage)[here.key];
  if (option === undefined) return undefined;
  const fallback = option.default === undefined ? "" : ` = ${option.default}`;
  return text(`${here?.key}: ${option.type}${fallback}`, option.doc);
}

function text(signature: string, doc: string): MimeBundle {
  return {
    "text/plain": `${signature}\n\n${doc}`,
    "text/markdown": `\`\`\`typescript\n${signature}\n\`\`\`\n\n${doc}`,
  };
}

function describeStage(stage: Stage): MimeBundle {
  const options = Object.entries(optionsOf(stage));
  const head = `%%${stage.name} ${options.map(([name]) => `${name}=…`).join(" ")}`.trimEnd();
  const rows = options.map(([name, { type, doc, default: fallback }]) => ({
    name,
    type,
    doc: fallback === undefined ? doc : `${doc} (${fallback} unless given)`,
  }));
  const plain = rows.map(({ name, type, doc }) => `  ${name}: ${type}  ${doc}`).join("\n");
  const cell = (value: string): string => value.replace(/\|/g, "\\|");
  const table = [
    "| option | type | |",
    "| --- | --- | --- |",
    ...rows.map(({ name, type, doc }) => `| ${name} | \`${cell(type)}\` | ${cell(doc)} |`),
  ].join("\n");
  return {
    "text/plain": `${head}\n\n${stage.doc}\n\n${plain}`,
    "text/markdown": `\`${head}\`\n\n${stage.doc}\n\n${table}`,
  };
}
