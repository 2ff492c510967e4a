/** The rooms at the top of the house, product code alone. */
export const wings = [
  "src",
  "kernel",
  "picture",
  "spelling",
  "platform",
  "http-server",
  "cli",
  "tab",
];
