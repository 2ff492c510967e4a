import { readFile } from "#platform/files";

/** Reads a file that must hold a JSON object; `action` says what for in the error. */
export async function readJson(path: string, action: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new RangeError(
      `Cannot ${action}: ${path} must be readable, got ${(error as NodeJS.ErrnoException).code}`,
      { cause: error },
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    throw new SyntaxError(
      `Cannot ${action}: ${path} must be JSON, got ${(error as Error).message}`,
      { cause: error },
    );
  }
  throw new SyntaxError(`Cannot ${action}: ${path} must hold an object, got ${text.slice(0, 40)}`);
}
