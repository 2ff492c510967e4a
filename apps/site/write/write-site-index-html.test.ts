import assert from "node:assert/strict";
import { test } from "node:test";
import type { SiteSettings } from "../tab/page/start.js";
import { labHtml, missingHtml } from "./write-site.js";

test("the pages of a site have a policy before anything else of them runs", () => {
  const lab = labHtml("</script><b>", {} as SiteSettings, { reading: "read.html", icon: "" });
  for (const [page, ...rules] of [
    [lab, "base-uri 'none'", "form-action 'none'", "object-src 'none'"],
    [missingHtml, "default-src 'none'", "base-uri 'none'", "form-action 'none'"],
  ]) {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page!)!;
    for (const rule of rules) assert.ok(policy[1]!.split("; ").includes(rule), rule);
    assert.ok(policy.index < page!.indexOf("<script"));
  }
  // What a script holds does not end it.
  assert.equal(lab.match(/<\/script>/g)!.length, 1);
});
