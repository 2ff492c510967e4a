import type * as node from "../node/addresses.js";

export const pathOf: typeof node.pathOf = (address) => {
  const { protocol, pathname } = new URL(address);
  if (protocol === "file:") return decodeURIComponent(pathname);
  throw new TypeError(
    `Cannot find a file: its address must be of the scheme file, got ${protocol}`,
  );
};

export const addressOf: typeof node.addressOf = (path) =>
  `file://${path.split("/").map(encodeURIComponent).join("/")}`;
