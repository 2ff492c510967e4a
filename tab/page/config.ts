/** What JupyterLab reads of its page, for a lab whose addresses begin with `base`. */
export function labConfig(base: string, version: string, open: string): Record<string, unknown> {
  const path = new URL(base).pathname;
  const urls = {
    app: "lab",
    settings: "lab/api/settings",
    workspacesApi: "lab/api/workspaces",
    translationsApi: "lab/api/translations",
    themes: "lab/api/themes",
    tree: "lab/tree",
  };
  const named = Object.entries(urls).flatMap(([name, url]) => [
    [`${name}Url`, `/${url}`],
    [`full${name[0]!.toUpperCase()}${name.slice(1)}Url`, path + url],
  ]);
  const workspace = /^lab\/workspaces\/([\w.-]+)/.exec(open)?.[1];
  return {
    ...Object.fromEntries(named),
    baseUrl: path,
    wsUrl: "",
    appName: "arpo-lab",
    appNamespace: "lab",
    appVersion: version,
    notebookVersion: "[2, 17, 0]",
    workspacesUrl: "/lab/workspaces",
    fullStaticUrl: `${path}lab-static`,
    fullListingsUrl: "",
    fullLicensesUrl: "",
    cacheFiles: false,
    devMode: false,
    mode: open.startsWith("doc") ? "single-document" : "multiple-document",
    federated_extensions: [],
    terminalsAvailable: false,
    ignorePlugins: [],
    serverRoot: "/home",
    preferredPath: "/",
    rootUri: "",
    quitButton: false,
    store_id: 0,
    workspace: workspace ?? "default",
    treePath: /(?:^|\/)tree\/(.+)$/.exec(open)?.[1] ?? "",
  };
}
