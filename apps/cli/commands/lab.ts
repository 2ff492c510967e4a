import type { LabCommandOptions } from "../lab/run-lab.js";
import { aside, say } from "../terminal/say.js";
import type { SiteOptions } from "../../site/write/write-site.js";
import { list, port, seconds } from "../terminal/values.js";
import { Command } from "commander";

/** `arpo-lab lab`: notebooks in the browser. */
export function labCommand(): Command {
  return new Command("lab")
    .description("open notebooks in the browser")
    .option("--dir <folder>", "folder to open; default: the current one")
    .option(
      "--port <number>",
      "port to listen on; default: a fixed port per folder, if it is free",
      port,
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--allow-host <name>",
      "accept requests for another name of this machine; may be repeated",
      list,
      [],
    )
    .option("--token <text>", "token that the browser needs; default: random")
    .option("--all-files", "list all files of a clone of arpo-lab, not only notebooks and yours")
    .option("--no-browser", "do not open a browser")
    .option(
      "--cull-idle <seconds>",
      "shut down kernels that have been idle this long without a page",
      seconds,
    )
    .action(async (options: LabCommandOptions) => {
      const { runLab } = await import("../lab/run-lab.js");
      await runLab(options);
    });
}

/** `arpo-lab site`: the lab as a folder that any host of static files can show. */
export function siteCommand(): Command {
  return new Command("site")
    .description("write the lab as a static site that runs in a browser tab")
    .argument("<out>", "folder to write; an existing site is replaced")
    .option("--notebooks <folder>", "notebooks to include, with the data beside them")
    .option("--lessons", "include the lessons; the default without --notebooks")
    .action(async (out: string, options: Omit<SiteOptions, "out">) => {
      const { writeSite } = await import("../../site/write/write-site.js");
      const { out: folder, files, bytes } = await writeSite({ ...options, out, say: aside });
      const size = (bytes / 1e6).toFixed(1);
      say(`${folder}: ${files} files, ${size} MB. Any host of static files will do.`);
    });
}
