/** How long an answer that was asked for ahead is good, in milliseconds. */
const patience = 15_000;

/**
 * Runs in the page before its scripts are there: asks for what they will ask first, so that the answers
 * come while they are loaded. Each answer is used once. It is sent as text and must stand alone.
 */
function askAhead(paths: string[], limit: number): void {
  const ask = globalThis.fetch;
  const asked = new Map<string, Promise<Response | undefined>>();
  for (const path of paths) {
    const answer = ask(path, { cache: "no-store", credentials: "same-origin" });
    // What went wrong is asked again, and told then.
    asked.set(
      path,
      answer.then(
        (response) => (response.ok ? response : undefined),
        () => undefined,
      ),
    );
  }
  const until = performance.now() + limit;
  globalThis.fetch = async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    const url = input instanceof Request ? input.url : String(input);
    // JupyterLab adds the time to every address.
    const path = url.replace(location.origin, "").replace(/[?&]\d{13}$/, "");
    const answer = method === "GET" ? asked.get(path) : undefined;
    // What comes after a change must not be older than it.
    if (method !== "GET") asked.clear();
    asked.delete(path);
    if (answer !== undefined && performance.now() < until) {
      const response = await answer;
      if (response !== undefined) return response;
    }
    return await ask(input, init);
  };
}

declare const location: { origin: string };

/** The script that asks ahead for what opening a workspace, and a file in it, takes. */
export function earlyScript(workspace: string, tree: string | undefined): string {
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
  return `(${askAhead.toString()})(${list}, ${patience})`;
}
