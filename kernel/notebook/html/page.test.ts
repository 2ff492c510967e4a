import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { NotebookCell } from "../notebook.js";
import { ansiHtml } from "./ansi.js";
import { highlight } from "./highlight.js";
import { markdownHtml, sanitizeHtml } from "./markdown.js";
import { outputHtml, pageOf } from "./page.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]);

test("sanitizeHtml() keeps harmless tags and writes them anew", () => {
  assert.equal(
    sanitizeHtml('<DIV style="color:red" onclick="x()" data-x=1>a<br/>b</DIV>'),
    '<div style="color:red">a<br>b</div>',
  );
  assert.equal(
    sanitizeHtml("<details open><summary>s</summary></details>"),
    '<details open=""><summary>s</summary></details>',
  );
  assert.equal(sanitizeHtml("1 < 2 && 3 > 2 <!-- gone -->"), "1 &lt; 2 && 3 > 2 ");
});

test("sanitizeHtml() lets nothing through that runs or fetches", () => {
  const attacks = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    '<img src="https://x/y.png">',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="java\nscript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href=" &#1;javascript:alert(1)">x</a>',
    '<a href="data:text/html,<script>1</script>">x</a>',
    "<svg><script>1</script></svg>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    '<div style="background:url(https://x)">x</div>',
    `<div style="background:image-set('https://x' 1x)">x</div>`,
    `<div style="background:-webkit-image-set('https://x' 1x)">x</div>`,
    `<div style="background:cross-fade('https://x', red)">x</div>`,
    "<style>@import url(https://x)</style>",
    "<meta http-equiv=refresh content=0>",
    '<b title="a"onmouseover="alert(1)">x</b>',
    "<img/src=x/onerror=alert(1)>",
    "<math><mtext><script>1</script></mtext></math>",
    "<b <script>alert(1)</script>",
    "<script",
  ];
  for (const attack of attacks) {
    const clean = sanitizeHtml(attack);
    const tags = clean.match(/<[^>]*>?/g) ?? [];
    for (const tag of tags) {
      assert.match(
        tag,
        /^<\/?(?:a|b|img|div)(?: (?:href|title|style|src|alt)="[^"<>]*")*>$/,
        `${attack} -> ${clean}`,
      );
      assert.doesNotMatch(tag, /javascript:|https:|data:text/i, `${attack} -> ${clean}`);
    }
  }
});

test("sanitizeHtml() drops comments, one without an end up to the text's end", () => {
  assert.equal(sanitizeHtml("a<!-- b --> c"), "a c");
  assert.equal(sanitizeHtml("a<!-- <b>b"), "a");
  assert.equal(sanitizeHtml("<!--".repeat(500_000)), ""); // Minutes, were each searched to the end.
});

test("sanitizeHtml() keeps styles that colour and drops those that fetch or leave their place", () => {
  const styled = (style: string) => `<div style="${style}">x</div>`;
  for (const kept of [
    "color:rgb(1,2,3); width: calc(50% - 2px)",
    "color:var(--jp-ui-font-color1)",
  ]) {
    assert.equal(sanitizeHtml(styled(kept)), styled(kept));
  }
  for (const dropped of [
    "background:image-set('https://x' 1x)",
    "background:-webkit-image-set('https://x' 1x)",
    "background:cross-fade('https://x', red)",
    "background:u/**/rl(https://x)",
    "position:/**/fixed",
    "position: absolute; inset: 0",
  ]) {
    assert.equal(sanitizeHtml(styled(dropped)), "<div>x</div>", dropped);
  }
});

test("markdownHtml() renders text, tables, code and mathematics", () => {
  const html = markdownHtml(
    "# A *b*\n\n| a | b |\n|---|---|\n| 1 | $x_1$ |\n\n```ts\nconst a = 1;\n```\n\n$$\n\\sum_i p_i\n$$\n\nIt costs $5 or $6, `$no$`.\n\n\\begin{align}\na &= b\n\\end{align}\n",
  );
  assert.match(html, /<h1>A <em>b<\/em><\/h1>/);
  assert.match(html, /<td><math>/);
  assert.match(html, /<span class="k">const<\/span>/);
  assert.match(html, /<math display="block"[^>]*>[^]*∑/);
  assert.match(html, /costs \$5 or \$6, <code>\$no\$<\/code>/);
  assert.match(html, /<mtable/);
});

test("markdownHtml() shows a formula it cannot read as it was written", () => {
  assert.match(markdownHtml("$\\undefinedthing{x}$"), /<code>\$\\undefinedthing\{x\}\$<\/code>/);
});

test("markdownHtml() makes raw HTML and links harmless, pictures local", () => {
  assert.match(markdownHtml("<script>alert(1)</script>"), /&lt;script&gt;/);
  assert.match(markdownHtml("a <img src=x onerror=alert(1)> b"), /<img>/);
  assert.equal(markdownHtml("[x](javascript:alert(1))"), "<p>x</p>\n");
  assert.match(
    markdownHtml("![alt](https://x.y/z.png)"),
    /<a href="https:\/\/x\.y\/z\.png"[^>]*>alt<\/a>/,
  );
  assert.match(
    markdownHtml("![a](f.png)", () => "data:image/png;base64,AA"),
    /<img src="data:image\/png;base64,AA" alt="a">/,
  );
});

test("highlight() marks what it knows and escapes everything", () => {
  assert.equal(
    highlight('const a = f("<b>", 1.5e3); // x', "typescript"),
    '<span class="k">const</span> a = <span class="f">f</span>(<span class="s">&quot;&lt;b&gt;&quot;</span>, ' +
      '<span class="n">1.5e3</span>); <span class="c">// x</span>',
  );
  assert.equal(
    highlight("x = 1 # c", "python"),
    'x = <span class="n">1</span> <span class="c"># c</span>',
  );
  assert.equal(highlight("<x>", "unknown"), "&lt;x&gt;");
  const long = `const s = \`${"a".repeat(50_000)}`;
  assert.equal(highlight(long, "ts").length > 50_000, true);
});

test("ansiHtml() knows colours, marks and carriage returns", () => {
  assert.equal(
    ansiHtml(
      "\x1b[1;31mred\x1b[0m <plain> \x1b[38;5;196mx\x1b[48;2;1;2;3my\x1b[39;49;4mu\x1b[24m.",
    ),
    '<span class="ansi-bold" style="color:var(--ansi-red)">red</span> &lt;plain&gt; ' +
      '<span style="color:rgb(255,0,0)">x</span><span style="color:rgb(255,0,0);background:rgb(1,2,3)">y</span>' +
      '<span class="ansi-underline">u</span>.',
  );
  assert.equal(ansiHtml("10%\r50%\r100%\nnext\r\nx"), "100%\nnext\nx");
  assert.equal(ansiHtml("a\x1b[2Kb\x1b]0;title\x07c"), "abc");
});

test("outputHtml() takes the best representation and keeps scripts alive", () => {
  const show = (data: Record<string, unknown>): string =>
    outputHtml({ output_type: "display_data", data, metadata: {} });
  assert.match(
    show({ "text/html": ["<script>", "1</script>"], "text/plain": "t" }),
    /<script>1<\/script>/,
  );
  assert.match(
    show({ "image/png": "AA\n", "text/plain": "t" }),
    /<img src="data:image\/png;base64,AA"/,
  );
  assert.match(
    show({ "image/svg+xml": "<svg onload=x>", "image/png": "AA" }),
    /data:image\/svg\+xml;base64,/,
  );
  assert.match(show({ "text/latex": "$x^2$ & $$y$$" }), /<math>[^]*&amp;[^]*display="block"/);
  assert.match(show({ "application/json": { a: "<" } }), /&quot;a&quot;: &quot;&lt;&quot;/);
  assert.match(show({ "application/x-unknown": "?" }), /\[application\/x-unknown\]/);
  assert.match(
    outputHtml({ output_type: "error", ename: "E", evalue: "<v>", traceback: [] }),
    /class="error">E: &lt;v&gt;/,
  );
  assert.match(
    outputHtml({ output_type: "stream", name: "stderr", text: "e" }),
    /class="stderr">e</,
  );
});

test("pageOf() is one page that fetches nothing", () => {
  const folder = temporaryFolder("page");
  writeFileSync(join(folder, "p.png"), png);
  const cells: NotebookCell[] = [
    {
      cell_type: "markdown",
      id: "a",
      metadata: {},
      source: ["![here](p.png) ![attached](attachment:q.png) ![away](../../etc/passwd)"],
      attachments: { "q.png": { "image/png": png.toString("base64") } },
    },
    { cell_type: "raw", id: "r", metadata: {}, source: "<raw>" },
    {
      cell_type: "code",
      id: "b",
      metadata: {},
      execution_count: 7,
      source: "1 < 2",
      outputs: [
        {
          output_type: "execute_result",
          execution_count: 7,
          data: { "text/plain": "true" },
          metadata: {},
        },
      ],
    },
  ];
  const page = pageOf(
    { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 },
    { title: "<T>", folder },
  );
  assert.match(page, /<title>&lt;T&gt;<\/title>/);
  assert.match(page, /default-src 'none'/);
  assert.equal(page.match(/<img src="data:image\/png/g)?.length, 2);
  assert.match(page, /&lt;raw&gt;/);
  assert.match(page, /\[7\]/);
  assert.doesNotMatch(page, /(?:src|href)="(?!data:|\.\.\/)/);
});

test("a count that is none is written as text", () => {
  const execution_count = "<script>alert(1)</script>" as unknown as number;
  const cell = { cell_type: "code" as const, id: "a", source: "1", metadata: {}, outputs: [] };
  const cells = [{ ...cell, execution_count }];
  const page = pageOf({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells }, { title: "t" });
  assert.doesNotMatch(page, /<script>alert/);
});
