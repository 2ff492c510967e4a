import { type Json, textField } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { Paths } from "../contents/paths.js";
import type { Router } from "../http/router.js";
import type { Kernels } from "../kernels/kernels.js";
import type { RunningKernel } from "../kernels/running-kernel.js";
import type { Sessions } from "../kernels/sessions.js";
import type { Pages } from "../lab/pages.js";
import { Acts, type ActLimits } from "./acts.js";
import { askValues } from "./kernel-values.js";

interface Parts {
  kernels: Kernels;
  sessions: Sessions;
  paths: Paths;
  pages: Pages;
  limits?: Partial<ActLimits> | undefined;
}

/** Values that the toolkit makes; what else a session holds, a key for instance, is nobody else's. */
const shownGroups = new Set(["Trees", "Batches", "Runs", "Policies"]);

/** A page that has a notebook open answers within this, in milliseconds. */
const pagePatience = 2500;

function wholeNumber(text: string | null, usual: number, most: number): number {
  const value = text === null ? usual : Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new ErrorResponse(
    400,
    `Cannot read the address: a number must be 0 to ${most}, got ${text}`,
  );
}

/**
 * What agents reach, by a token that opens nothing else: `agent` gets `/agent/…`. `lab` gets what the pages answer, by
 * their own cookie. Returns the acts that wait.
 */
export function agentRoutes(agent: Router, lab: Router, parts: Parts): Acts {
  const { kernels, sessions, paths, pages } = parts;

  const sessionOf = (notebook: string): Json | undefined =>
    sessions.list().find(({ path, type }) => path === notebook && type === "notebook");
  const kernelOf = (notebook: string): RunningKernel => {
    const session = sessionOf(notebook);
    if (session === undefined) {
      throw new ErrorResponse(404, `Cannot reach a kernel: ${notebook} has none that runs`);
    }
    return kernels.get(String((session["kernel"] as Json)["id"]));
  };
  /** A notebook of the lab's folder, by its one spelling. */
  const notebookOf = async (given: string | null | undefined): Promise<string> => {
    const path = Paths.tidy(given ?? "");
    if (!path.endsWith(".ipynb")) {
      throw new ErrorResponse(
        400,
        `Cannot use a notebook: its path must end in .ipynb, got ${path}`,
      );
    }
    await paths.use(path, "target", async (place) => void place.existing());
    return path;
  };
  const acts = new Acts(pages, (notebook) => kernelOf(notebook).interrupt(), parts.limits);

  agent.on("GET", "/agent/notebooks", () => ({
    json: {
      pages: pages.count,
      notebooks: sessions
        .list()
        .filter(({ type }) => type === "notebook")
        .map(({ path, kernel }) => {
          const { name, execution_state, last_activity } = kernel as Json;
          return { notebook: path, kernel: name, state: execution_state, last_activity };
        }),
    },
  }));
  agent.on("GET", "/agent/values", async ({ url }) => {
    const kernel = kernelOf(await notebookOf(url.searchParams.get("notebook")));
    const { values } = await askValues(kernel, { method: "list" });
    const own = (values as Json[]).filter(({ group }) => shownGroups.has(String(group)));
    return { json: { values: own.slice(0, 200) } };
  });
  agent.on("POST", "/agent/tell", async (call) => {
    const body = await call.json();
    const kernel = kernelOf(await notebookOf(textField(body, "notebook")));
    const name = textField(body, "name") ?? "";
    return { json: await askValues(kernel, { method: "tell", name, ask: body["ask"] ?? {} }) };
  });
  // What the pages show; 404 where the notebook is open in none.
  agent.on("GET", "/agent/cells", async ({ url }) => {
    const query = url.searchParams;
    const notebook = await notebookOf(query.get("notebook"));
    const from = wholeNumber(query.get("from"), 0, 1e6);
    const limit = wholeNumber(query.get("limit"), 20, 50);
    const told = await pages.ask(
      { schema_id: "arpo-lab/cells", notebook, from, limit },
      pagePatience,
    );
    const found = told.find((answer) => Array.isArray(answer["cells"]));
    if (found === undefined) {
      throw new ErrorResponse(404, `Cannot read cells: no page has ${notebook} open`);
    }
    return { json: found };
  });
  agent.on("POST", "/agent/acts", async (call) => {
    const body = await call.json();
    return { json: await acts.ask(body, await notebookOf(textField(body, "notebook"))) };
  });

  lab.on("POST", "/lab/api/acts/:id", async (call) => {
    await acts.answer(call.params["id"]!, await call.json());
    return { status: 204 };
  });
  lab.on("POST", "/lab/api/acts/:id/result", async (call) => {
    acts.finished(call.params["id"]!, await call.json());
    return { status: 204 };
  });
  return acts;
}
