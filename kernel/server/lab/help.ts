import type { Router } from "../http/router.js";
import { fixedFiles } from "./fixed-files.js";

/** The pages are text and pictures of the package: nothing in them runs or asks anybody. */
const policy = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'";

/** Adds the documentation below `/help/`, which the lab's help menu opens. */
export function helpRoutes(router: Router, docs: string): void {
  const files = fixedFiles(docs);
  router.on("GET", "/help", () => ({ status: 302, headers: { location: "/help/index.html" } }));
  router.on("GET", "/help/*", ({ params }) => {
    const answer = files(params["path"] || "index.html");
    return { ...answer, headers: { ...answer.headers, "content-security-policy": policy } };
  });
}
