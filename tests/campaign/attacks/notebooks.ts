// Notebooks from elsewhere whose pages would do something.
import type { Notebook } from "../../../kernel/notebook/notebook.js";
import { pageOf } from "../../../kernel/notebook/html/page.js";
import type { Random } from "../../../src/base/random/random.js";
import { closedPageMeta } from "../../../common/picture/closed-page.js";
import { type Area, Broken } from "../attempt.js";

const payloads = [
  ...[
    "<script>PWN</script>",
    "<img src=x onerror=PWN>",
    "<svg onload=PWN>",
    "<svg><script>PWN</script></svg>",
  ],
  ...[
    '"><script>PWN</script>',
    "'><img src=x onerror=PWN>",
    "</style><script>PWN</script>",
    "</title><script>PWN</script>",
  ],
  ...[
    "<a href='javascript:PWN'>x</a>",
    "[x](javascript:PWN)",
    "![x](javascript:PWN)",
    "[x](data:text/html,<script>PWN</script>)",
  ],
  ...[
    "<iframe srcdoc='<script>PWN</script>'></iframe>",
    "<object data=javascript:PWN>",
    "<embed src=javascript:PWN>",
  ],
  ...[
    "<form action=javascript:PWN><button>x</button></form>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=PWN></style></mglyph></math>",
  ],
  ...[
    "<details open ontoggle=PWN>",
    "<p style='background:url(javascript:PWN)'>",
    "<base href='http://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=javascript:PWN'>",
  ],
  ...[
    "<noscript><p title='</noscript><img src=x onerror=PWN>'>",
    "<!--><img src=x onerror=PWN>-->",
    '<a\thref="java\tscript:PWN">x</a>',
    "<IMG SRC=x OnErRoR=PWN>",
  ],
  ...[
    "$\\href{javascript:PWN}{x}$",
    "$\\text{<img src=x onerror=PWN>}$",
    "```html\n<script>PWN</script>\n```",
    "`<script>PWN</script>`",
    "\u001b]8;;javascript:PWN\u0007x\u001b]8;;\u0007",
    "\u001b[31m<script>PWN</script>",
  ],
  ...[
    "<template><script>PWN</script></template>",
    "<xmp><script>PWN</script>",
    "<link rel=stylesheet href='http://evil.example/PWN'>",
    "<img srcset='http://evil.example/PWN 1x'>",
    "<video poster=http://evil.example/PWN>",
    "<input autofocus onfocus=PWN>",
  ],
];
const mimes = [
  "text/plain",
  "text/html",
  "text/markdown",
  "text/latex",
  "image/svg+xml",
  "image/png",
  "application/json",
  "application/javascript",
  "x/<script>PWN</script>",
];

function textOf(random: Random): string {
  const parts = Array.from({ length: 1 + random.integer(3) }, () => random.choose(payloads));
  return parts.join(random.choose(["", "\n", "\n\n", " ", "<b>", "<!--", "</"]));
}

function notebookOf(random: Random): Notebook {
  const text = () => (random.uniform() < 0.6 ? textOf(random) : "x");
  const output = () =>
    random.choose([
      () => ({ output_type: "stream", name: text(), text: text() }),
      () => ({ output_type: "error", ename: text(), evalue: text(), traceback: [text()] }),
      () => ({
        output_type: "display_data",
        data: { [random.choose(mimes)]: text() },
        metadata: { x: text() },
      }),
      () => ({
        output_type: "execute_result",
        execution_count: text(),
        data: { [random.choose(mimes)]: [text()] },
        metadata: {},
      }),
      () => ({ output_type: text() }),
    ])();
  const cells = Array.from({ length: 1 + random.integer(4) }, () => ({
    cell_type: random.choose(["code", "code", "markdown", "raw", text()]),
    id: text(),
    execution_count: random.choose([1, null, text()]),
    metadata: { tags: [text()], name: text(), language: text() },
    source: text(),
    attachments: { [text()]: { "image/png": text() } },
    outputs: [output(), output()],
  }));
  const metadata = {
    title: text(),
    kernelspec: { name: text(), display_name: text(), language: text() },
    language_info: { name: text(), file_extension: text(), pygments_lexer: text() },
  };
  return { cells, metadata, nbformat: 4, nbformat_minor: 5 } as never;
}

/** A notebook without outputs that are programs by their type: they keep their scripts, so that figures stay alive. */
function withoutPrograms(notebook: Notebook): Notebook {
  const cells = notebook.cells.map((cell) => ({
    ...cell,
    outputs: cell.outputs?.filter(
      (output) =>
        !(
          "data" in output &&
          ["text/html", "application/javascript"].some((mime) => mime in output.data)
        ),
    ),
  }));
  return { ...notebook, cells } as Notebook;
}

/** The tags of a page, and what stands in them; texts and attribute values as a browser reads them. */
function dangers(html: string): string[] {
  const found: string[] = [];
  for (const [tag, name = "", rest = ""] of html.matchAll(
    /<([a-z][a-z0-9-]*)((?:\s+[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?|[\s/])*)>/gi,
  )) {
    const bare = rest.replaceAll(/"[^"]*"|'[^']*'/g, '""');
    const isActive = /^(script|iframe|object|embed|form|base|template|noscript|xmp|link)$/i.test(
      name,
    );
    if (isActive && tag.includes("PWN")) found.push(tag);
    if (/\son\w+\s*=/i.test(bare)) found.push(tag);
    if (
      /\s(href|src|action|formaction|data|poster|srcset)\s*=\s*["']?\s*(javascript:|http:\/\/evil|data:text\/html)/i.test(
        rest,
      )
    )
      found.push(tag);
  }
  if (/<script[^>]*>[^<]*PWN/i.test(html)) found.push("a script with PWN");
  return found;
}

export const notebooks: Area = {
  name: "notebooks",
  share: 8,
  seconds: 30,
  make: (random) => {
    const notebook = notebookOf(random);
    const title = textOf(random);
    return {
      name: `a page of ${JSON.stringify(notebook).slice(0, 300)}`,
      promise:
        "a page that runs nothing but its outputs' own programs and fetches nothing, or a refusal",
      run: async () => {
        let html: string;
        try {
          html = pageOf(notebook, { title });
        } catch (error) {
          return Promise.resolve(`refused: ${(error as Error).message}`);
        }
        const policy = html.indexOf(closedPageMeta);
        if (policy < 0 || policy > html.indexOf("<title>"))
          throw new Broken("broken", "a page without the policy that lets nothing out");
        const found = dangers(pageOf(withoutPrograms(notebook), { title }));
        if (found.length > 0) throw new Broken("broken", found.join("\n"));
        return `${html.length} characters`;
      },
    };
  },
};
