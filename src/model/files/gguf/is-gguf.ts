/** Whether a path is a GGUF file's, by its name. */
export const isGguf = (path: string): boolean => /\.gguf$/i.test(path);
