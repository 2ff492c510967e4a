import { longestText } from "#platform/bytes";
import { ErrorResponse } from "../../../http-server/error-response.js";

/** The most bytes that can be sent at once, as the text that JSON is. */
export const mostBytes = longestText;

/** Why a file is not opened that does not fit into one text. */
export function tooLarge(path: string, options?: ErrorOptions): ErrorResponse {
  const most = Math.floor(mostBytes / 2 ** 20);
  return new ErrorResponse(
    413,
    `Cannot open ${path}: as text it must be at most ${most} MB; download it, or read it in a cell`,
    options,
  );
}
