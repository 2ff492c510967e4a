import { mkdir } from "#platform/files";

/** Makes a folder to write to and those above it, or says what is in the way. */
export async function outputFolder(folder: string, action: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RangeError(
      `Cannot ${action}: ${folder} must be a folder that can be written, got ${code}`,
      { cause: error },
    );
  }
}
