/** What a request is answered with when it cannot be done: a status and a sentence. */
export class ErrorResponse extends Error {
  override name = "ErrorResponse";
  readonly status: number;
  /** The reason in a word, for programs. */
  readonly code: string | undefined;

  constructor(status: number, message: string, options: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.status = status;
    this.code = options.code;
  }
}

const statusOf: Record<string, number> = {
  ENOENT: 404,
  ENOTDIR: 404,
  ELOOP: 404,
  EACCES: 403,
  EPERM: 403,
  EROFS: 403,
  EEXIST: 409,
  ENOTEMPTY: 400,
  EISDIR: 400,
  ENAMETOOLONG: 400,
  EINVAL: 400,
  EFBIG: 413,
  ENOSPC: 507,
  EDQUOT: 507,
};

function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && code in statusOf ? code : systemCode(error.cause);
}

/** Any error as one with a status: what the file system refused is distinguished from our own faults. */
export function toErrorResponse(error: unknown): ErrorResponse {
  if (error instanceof ErrorResponse) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = systemCode(error);
  return new ErrorResponse(code === undefined ? 500 : statusOf[code]!, message, { cause: error });
}
