import { program } from "#pages/early";
import type { Answer, Router } from "../http/router.js";
import { fixedFiles } from "./fixed-files.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How long an answer that was asked for ahead is good, in milliseconds. */
const patience = 60_000;

/** The script that asks ahead for what opening a workspace, and a file in it, takes. */
function earlyScript(workspace: string, tree: string | undefined): string {
  const paths = [
    "/lab/api/settings",
    "/api/kernelspecs",
    "/api/me",
    "/api/kernels",
    "/api/sessions",
    "/lab/api/workspaces",
    "/lab/api/translations/default",
    "/lab/api/translations",
    "/lsp/status",
    "/api/contents?content=1&hash=0",
    `/lab/api/workspaces/${workspace}`,
    "/lab/api/settings?ids_only=true",
  ];
  if (tree?.endsWith(".ipynb") === true) {
    const place = `/api/contents/${tree.split("/").map(encodeURIComponent).join("/")}`;
    paths.push(`${place}?content=0&hash=0`);
    paths.push(`${place}?type=notebook&content=1&hash=1&contentProviderId=undefined`);
  }
  const list = JSON.stringify(paths).replaceAll("<", "\\u003c");
  return `(()=>{${program}page.start(${list},${patience})})()`;
}

/** Nothing a page or a notebook shows may be fetched from, or sent to, anywhere else. */
const policy = [
  "default-src 'self' data: blob:",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self' blob:",
  "frame-src 'self' data: blob:",
  "frame-ancestors 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "object-src 'self' blob: data:",
].join("; ");

const escaped = (text: string): string => text.replaceAll("<", "\\u003c");

/** The application's page with what its scripts must know; `pieces` are the scripts that it begins with. */
function html(
  config: Record<string, unknown>,
  build: string,
  script: string,
  pieces: string[],
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>arpo-lab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script>${script}</script>
${pieces.map((name) => `<link rel="modulepreload" href="/lab-static/${build}/${name}">`).join("\n")}
<link rel="icon" href="/lab-static/${build}/favicon.svg" type="image/svg+xml">
<script id="jupyter-config-data" type="application/json">${escaped(JSON.stringify(config))}</script>
<link rel="stylesheet" href="/lab-static/${build}/main.css">
<script type="module" src="/lab-static/${build}/main.js"></script>
</head>
<body class="jp-ThemedContainer">
<noscript>The lab needs JavaScript.</noscript>
</body>
</html>
`;
}

/** Adds the page, and its scripts, styles and themes below `/lab-static/BUILD` and `/lab/api/themes`. */
export function pageRoutes(
  router: Router,
  options: {
    page: string;
    build: string;
    root: string;
    lessons?: { copies: string; shipped: string } | undefined;
  },
): void {
  const { page, build, root, lessons } = options;
  const read = (name: string): unknown => JSON.parse(readFileSync(join(page, name), "utf8"));
  const { version } = read("version.json") as { version: string };
  const config = {
    baseUrl: "/",
    wsUrl: "",
    appUrl: "/lab",
    appName: "arpo-lab",
    appNamespace: "lab",
    appVersion: version,
    notebookVersion: "[2, 17, 0]",
    settingsUrl: "/lab/api/settings",
    workspacesApiUrl: "/lab/api/workspaces",
    translationsApiUrl: "/lab/api/translations",
    themesUrl: "/lab/api/themes",
    treeUrl: "/lab/tree",
    workspacesUrl: "/lab/workspaces",
    fullStaticUrl: `/lab-static/${build}`,
    fullAppUrl: "/lab",
    fullTreeUrl: "/lab/tree",
    fullSettingsUrl: "/lab/api/settings",
    fullWorkspacesApiUrl: "/lab/api/workspaces",
    fullTranslationsApiUrl: "/lab/api/translations",
    fullThemesUrl: "/lab/api/themes",
    fullListingsUrl: "",
    fullLicensesUrl: "",
    cacheFiles: false,
    devMode: false,
    mode: "multiple-document",
    federated_extensions: [],
    terminalsAvailable: false,
    ignorePlugins: [],
    serverRoot: root,
    preferredPath: "/",
    rootUri: "",
    quitButton: false,
    store_id: 0,
    ...(lessons && { lessons: lessons.copies, shippedLessons: lessons.shipped }),
    // No token: the cookie vouches for the page, and a notebook's script could read one here.
  };
  const pieces = read("first.json") as string[];
  const serve = async (call: { params: Record<string, string>; url: URL }): Promise<Answer> => {
    const path = call.params["path"] ?? "";
    const workspace = /^workspaces\/([\w.-]+)/.exec(path)?.[1];
    const tree = /(?:^|\/)tree\/(.+)$/.exec(path)?.[1];
    const script = earlyScript(workspace ?? "default", tree);
    const filled = {
      ...config,
      workspace: workspace ?? "default",
      treePath: tree ?? "",
      mode: path.startsWith("doc") ? "single-document" : "multiple-document",
    };
    return {
      headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
      bytes: Buffer.from(html(filled, build, script, pieces)),
    };
  };
  const scripts = fixedFiles(join(page, "static"), "private, max-age=31536000, immutable");
  const themes = fixedFiles(join(page, "themes"));
  router.on("GET", `/lab-static/${build}/*`, ({ params }) => scripts(params["path"] ?? ""));
  router.on("GET", "/lab/api/themes/*", ({ params }) => themes(params["path"] ?? ""));
  router.on("GET", "/favicon.ico", () => scripts("favicon.svg"));
  router.on("GET", "/lab", serve);
  router.on("GET", "/lab/*", serve);
  router.on("GET", "/doc/*", serve);
  router.on("GET", "/", () => ({ status: 302, headers: { location: "/lab" } }));
}
