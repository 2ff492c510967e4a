import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { mimeOf } from "../contents/model.js";
import { segmentsOf } from "../contents/paths.js";
import type { Answer } from "../http/router.js";

/** Answers with the files of a folder that came with the package. */
export function fixedFiles(
  folder: string,
  cache = "private, max-age=300",
): (path: string) => Answer {
  return (path) => {
    const place = join(folder, ...segmentsOf(path));
    if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new ErrorResponse(404, `Cannot find ${path}`);
    }
    return {
      file: realpathSync(place),
      headers: {
        "content-type": mimeOf(place) ?? "application/octet-stream",
        "cache-control": cache,
      },
    };
  };
}
