/** The top folders of product code. */
export const sourceRoots = [
  "src",
  "kernel",
  "picture",
  "arguments",
  "platform",
  "http-server",
  "cli",
  "tab",
  "notebooks/exercises",
];
