import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { segmentsOf } from "../contents/paths.js";
import { mimeOf } from "../contents/mime.js";
import { HttpError } from "../http/http-error.js";
import type { Answer, Router } from "../http/router.js";
import { earlyScript } from "./early.js";

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
  options: { page: string; build: string; token: string; root: string },
): void {
  const { page, build, token, root } = options;
  const config = {
    baseUrl: "/",
    wsUrl: "",
    appUrl: "/lab",
    appName: "arpo-lab",
    appNamespace: "lab",
    appVersion: "4.6.4",
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
    token,
  };
  const pieces = JSON.parse(readFileSync(join(page, "first.json"), "utf8")) as string[];
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
  const fixed =
    (folder: string) =>
    (path: string): Answer => {
      const place = join(page, folder, ...segmentsOf(path));
      if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) {
        throw new HttpError(404, `Cannot find ${path}`);
      }
      const forever = "private, max-age=31536000, immutable";
      return {
        file: realpathSync(place),
        headers: {
          "content-type": mimeOf(place) ?? "application/octet-stream",
          "cache-control": folder === "static" ? forever : "private, max-age=300",
        },
      };
    };
  const scripts = fixed("static");
  const themes = fixed("themes");
  router.on("GET", `/lab-static/${build}/*`, ({ params }) => scripts(params["path"] ?? ""));
  router.on("GET", "/lab/api/themes/*", ({ params }) => themes(params["path"] ?? ""));
  router.on("GET", "/favicon.ico", () => scripts("favicon.svg"));
  router.on("GET", "/lab", serve);
  router.on("GET", "/lab/*", serve);
  router.on("GET", "/doc/*", serve);
  router.on("GET", "/", () => ({ status: 302, headers: { location: "/lab" } }));
}
