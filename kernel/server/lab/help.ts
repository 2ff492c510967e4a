import { existsSync } from "node:fs";
import { join } from "node:path";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Answer, Router } from "../http/router.js";
import { fixedFiles } from "./fixed-files.js";
import { plainDocs } from "./plain-docs.js";

/** Where the documentation is. */
export interface DocsFolders {
  /** The built site (`npm run docs`); may be missing. */
  site: string;
  /** The Markdown pages, which are shown where there is no site. */
  pages: string;
}

/** The site's own scripts run, for search and navigation; they can ask nobody, this server included. */
const sitePolicy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";
/** In plain pages nothing runs. */
const plainPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** Adds the documentation below `/docs/`, which the lab's help menu opens. */
export function helpRoutes(router: Router, { site, pages }: DocsFolders): void {
  const files = fixedFiles(site);
  let plain: Map<string, string> | undefined;
  const answerTo = (path: string): Answer => {
    if (existsSync(join(site, "index.html"))) {
      // The site leads to `folder/` for `folder/index.html`.
      const answer = files(path.replace(/(^|\/)$/, "$1index.html"));
      return { ...answer, headers: { ...answer.headers, "content-security-policy": sitePolicy } };
    }
    const body = (plain ??= plainDocs(pages)).get(path || "index.html");
    if (body === undefined) throw new ErrorResponse(404, `Cannot find ${path}`);
    const type = { "content-type": "text/html; charset=utf-8" };
    return {
      bytes: new TextEncoder().encode(body),
      headers: { ...type, "content-security-policy": plainPolicy },
    };
  };
  router.on("GET", "/docs", () => ({ status: 302, headers: { location: "/docs/index.html" } }));
  router.on("GET", "/docs/*", ({ params }) => answerTo(params["path"] ?? ""));
}
