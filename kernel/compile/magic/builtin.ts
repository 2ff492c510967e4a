/** A magic of the kernel's own: what it does to a cell and what may follow it on its line. */
interface Builtin {
  doc: string;
  /** Words it takes. */
  words?: Record<string, string>;
  /** Of cells that are not code: what the body is. */
  content?: "text/html" | "text/markdown" | "text/latex" | "image/svg+xml" | "bash";
}

export const builtins: Readonly<Record<string, Builtin>> = {
  bash: {
    doc: "Runs the body in bash. Off unless the kernel was started with ARPO_LAB_ALLOW_BASH=1.",
    content: "bash",
  },
  check: {
    doc: "Type errors stop the cell, also where the notebook turned that off.",
    words: { full: "all that the compiler says", notebook: "this cell and all that follow" },
  },
  html: { doc: "Shows the body as HTML.", content: "text/html" },
  js: { doc: "Runs the body as plain JavaScript, without types." },
  latex: { doc: "Shows the body as LaTeX.", content: "text/latex" },
  markdown: { doc: "Shows the body as Markdown.", content: "text/markdown" },
  nocheck: {
    doc: "Runs the cell whatever its types say. So does `// @ts-nocheck`.",
    words: { notebook: "this cell and all that follow" },
  },
  show: { doc: "Prints the TypeScript that the cell stands for and does not run it." },
  svg: { doc: "Shows the body as a picture.", content: "image/svg+xml" },
  time: { doc: "Tells how long the cell took." },
};
