import { statSync } from "node:fs";
import { resolve } from "node:path";
import { LabServer } from "../../kernel/server/lab-server.js";
import { buildPage } from "../../kernel/server/build-page.js";
import { dataFolder } from "../../kernel/wire/data-folder.js";
import { openBrowser } from "./open-browser.js";

export interface LabCommandOptions {
  dir?: string;
  port?: number;
  host: string;
  allowHost: string[];
  token?: string;
  browser: boolean;
  cullIdle?: number;
}

/** Serves the lab until it is told to stop. */
export async function runLab(options: LabCommandOptions): Promise<void> {
  // npm runs scripts in the package's folder and says where it was called.
  const folder = resolve(process.env["INIT_CWD"] ?? ".", options.dir ?? ".");
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new RangeError(`Cannot open the lab: --dir must be a folder, got ${folder}`);
  }
  const page = await buildPage({ say: (line) => console.log(line) });
  const server = await LabServer.start({
    folder,
    page,
    port: options.port,
    host: options.host,
    allowHosts: options.allowHost,
    token: options.token,
    cullIdle: options.cullIdle,
    data: dataFolder(),
  });
  const url = `${server.url}lab?token=${encodeURIComponent(server.token)}`;
  console.log(`The lab shows ${folder}. Ctrl-C stops it.\n${url}`);
  if (options.browser) openBrowser(url);
  const signal = await new Promise<string>((stop) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(name, () => stop(name));
  });
  const { length } = server.kernels.list;
  console.log(`\nStopping on ${signal}${length > 0 ? `; ending ${length} kernel(s)` : ""}.`);
  await server.stop();
}
