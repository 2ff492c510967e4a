import type { SiteSettings } from "../../tab/page/start.js";

const inScript = (text: string): string => text.replaceAll("</", "<\\/");

/** The page that a site begins with; on a narrow screen one reads first. */
export function indexHtml(script: string, settings: SiteSettings, reading: string): string {
  const given = JSON.stringify({ ...settings, reading });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="base-uri 'none'; form-action 'none'; object-src 'none'">
<title>arpo-lab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body class="jp-ThemedContainer">
<noscript>The lab needs JavaScript. <a href="${reading}">Its first notebook can be read without.</a></noscript>
<script>${inScript(script)}
tab.start(${inScript(given)});</script>
</body>
</html>
`;
}

export const missingHtml = `<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>arpo-lab</title>
<script>
const [, base, open] = /^(.*?\\/)((?:lab|doc)\\/(?:tree|workspaces)\\b.*)$/.exec(location.pathname) ?? [];
if (base) location.replace(base + "?open=" + encodeURIComponent(decodeURIComponent(open)) + location.hash);
</script>
<p>There is no such page.
`;

/** A notebook's page with the way to where it runs. */
export function readingBar(html: string, name: string): string {
  const up = "../".repeat(name.split("/").length);
  const open = encodeURIComponent(`lab/tree/notebooks/${name}`);
  const bar = `<p style="position:sticky;top:0;margin:0;padding:.5em 1em;background:Canvas;color:CanvasText;border-bottom:1px solid GrayText"><a href="${up}?open=${open}">Open this notebook in the lab</a>: its cells run in your browser, nothing is installed.</p>`;
  return html.replace("<main>", `${bar}<main>`);
}
