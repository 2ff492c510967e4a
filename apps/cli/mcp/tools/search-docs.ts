import { z } from "#zod";
import { defineTool } from "../definition.js";
import { searchDocs as search } from "../docs.js";

const mostText = 1500;

export const searchDocs = defineTool({
  name: "search_docs",
  description:
    "Sections of arpo-lab's documentation for some words, such as: reward function with a reason. Whole pages are resources, arpo-lab://docs/PAGE.",
  input: {
    words: z.string().min(2).max(400),
    limit: z.number().int().min(1).max(8).default(4),
  },
  run({ words, limit }) {
    const found = search(words, limit);
    if (found.length === 0) return Promise.resolve({ note: "No page has these words." });
    const text = found.map(({ page, title, text: whole }) => {
      const rest = whole.length - mostText;
      const more = rest > 0 ? `\n[… ${rest} characters more: arpo-lab://docs/${page}]` : "";
      return `# docs/${page}.md: ${title}\n${whole.slice(0, mostText)}${more}`;
    });
    return Promise.resolve({ note: text.join("\n\n") });
  },
});
