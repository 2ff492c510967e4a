import { Command } from "commander";
import { say } from "../say.js";
import type { SiteOptions } from "../site/write-site.js";

/** `arpo-lab site`: the lab as a folder that any host of static files can show. */
export function siteCommand(): Command {
  return new Command("site")
    .description("write the lab as a static site that runs in a browser tab")
    .argument("<out>", "folder to write; an existing site is replaced")
    .option("--notebooks <folder>", "notebooks to include, with the data beside them")
    .option("--lessons", "include the lessons; the default without --notebooks")
    .action(async (out: string, options: Omit<SiteOptions, "out">) => {
      const { writeSite } = await import("../site/write-site.js");
      const { out: folder, files, bytes } = await writeSite({ ...options, out });
      const size = (bytes / 1e6).toFixed(1);
      say(`${folder}: ${files} files, ${size} MB. Any host of static files will do.`);
    });
}
