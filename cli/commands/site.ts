import { Command } from "commander";
import { say } from "../say.js";
import type { SiteOptions } from "../site/write-site.js";

/** `arpo-lab site`: the lab as a folder that any host of static files can show. */
export function siteCommand(): Command {
  return new Command("site")
    .description("write the lab as a folder of static files: a link to it is enough to use it")
    .argument("<out>", "the folder to write; a site that is there already is replaced")
    .option("--notebooks <folder>", "notebooks, and data beside them, that the site opens with")
    .option("--lessons", "the lessons as well; without --notebooks they are what there is")
    .action(async (out: string, options: Omit<SiteOptions, "out">) => {
      const { writeSite } = await import("../site/write-site.js");
      const { out: folder, files, bytes } = await writeSite({ ...options, out });
      const size = (bytes / 1e6).toFixed(1);
      say(`${folder}: ${files} files, ${size} MB. Any host of static files will do.`);
    });
}
