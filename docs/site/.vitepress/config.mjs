import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { unlisted } from "../sidebar.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../.pages/${name}`, import.meta.url)));

/** Long names in a line may break behind a dot, a slash or an underscore: `actor_rollout_ref.rollout.n` on a phone. */
function breakKeys(markdown) {
  const inline = markdown.renderer.rules.code_inline;
  markdown.renderer.rules.code_inline = (...given) =>
    inline(...given).replace(/(?<=>)[^<]{12,}(?=<)/g, (text) =>
      text.replace(/[._/]+(?=\w)/g, "$&<wbr>"),
    );
}

export default defineConfig({
  title: "arpo-lab",
  description: "A TypeScript notebook kernel and toolkit for agentic reinforcement learning",
  lang: "en",
  // build.mjs replaces this with the place of each page, so that the site works below any path.
  base: "/__docs_base__/",
  srcDir: ".pages",
  outDir: "../../dist/docs",
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    // Comments and keywords that can be read on both grounds.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    languageAlias: { jsonl: "json", js: "ts" },
    config: breakKeys,
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        detailedView: "auto",
        miniSearch: { searchOptions: { boost: { title: 6, titles: 2, text: 1 }, fuzzy: 0.1 } },
        // Of records that the sidebar leaves out only titles are searched, and of the generated reference only the names.
        _render(source, env, markdown) {
          const html = markdown.render(source, env);
          if (unlisted.test(env.relativePath.replace(/\.md$/, "")))
            return /<h1[^]*?<\/h1>/.exec(html)?.[0] ?? "";
          if (!env.relativePath.startsWith("reference/")) return html;
          return html.replace(/<h[4-6][^]*?<\/h[4-6]>/g, "");
        },
      },
    },
    nav: [
      { text: "Get started", link: "/get-started" },
      { text: "Lessons", link: "/lessons" },
      { text: "API", link: "/reference/" },
    ],
    sidebar: read("sidebar.json"),
    outline: { level: [2, 3], label: "On this page" },
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  },
});
