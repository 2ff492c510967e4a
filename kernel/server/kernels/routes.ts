import { textField } from "../../../common/http-server/body.js";
import type { Router } from "../http/router.js";
import type { Paths } from "../contents/paths.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Kernels } from "./kernels.js";
import type { Listener } from "./listener.js";
import type { Sessions } from "./sessions.js";

/** Adds `/api/kernels`. `listener` is the line of a front end's session to a kernel, where there is one. */
export function kernelRoutes(
  router: Router,
  kernels: Kernels,
  sessions: Sessions,
  paths: Paths,
  listener: (kernel: string, session: string) => Listener | undefined,
): void {
  router.on("GET", "/api/kernels", () => ({ json: kernels.list }));
  router.on("POST", "/api/kernels", async (call) => {
    const body = await call.json();
    const path = textField(body, "path");
    const folder = paths.folderOf(path ?? "");
    const { model } = await kernels.start(textField(body, "name") ?? "arpo-lab", folder);
    return { status: 201, json: model, headers: { location: `/api/kernels/${model.id}` } };
  });
  router.on("GET", "/api/kernels/:id", ({ params }) => ({
    json: kernels.get(params["id"]!).model,
  }));
  router.on("DELETE", "/api/kernels/:id", async ({ params }) => {
    await kernels.shutdown(params["id"]!);
    sessions.forgetKernel(params["id"]!);
    return { status: 204 };
  });
  router.on("POST", "/api/kernels/:id/interrupt", async ({ params }) => {
    await kernels.get(params["id"]!).interrupt();
    return { status: 204 };
  });
  router.on("POST", "/api/kernels/:id/restart", async ({ params }) => {
    const kernel = kernels.get(params["id"]!);
    await kernel.restart();
    return { json: kernel.model };
  });
  // Not Jupyter's: a page asks for what cells put out before it came.
  router.on("POST", "/api/kernels/:id/resume", async (call) => {
    const kernel = kernels.get(call.params["id"]!);
    const session = textField(await call.json(), "session_id") ?? "";
    const line = listener(kernel.id, session);
    if (line?.connected !== true) {
      throw new ErrorResponse(409, `Cannot resume: session ${session} is not connected`);
    }
    return { json: { cells: kernel.resume(line) } };
  });
}
