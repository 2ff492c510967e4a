import { program } from "#pages/early";

/** How long an answer that was asked for ahead is good, in milliseconds. */
const patience = 60_000;

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
  return `(()=>{${program}page.start(${list},${patience})})()`;
}
