import type * as node from "../../node/network/networks.js";

const why = "a browser tab may not read pages of other sites";
export const whyNoPages: typeof node.whyNoPages = why;

export const lookup: typeof node.lookup = (name: string): Promise<never> =>
  Promise.reject(new Error(`Cannot look up ${name}: ${why}`));

export const isIP: typeof node.isIP = (host) => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return host.split(".").every((n) => +n < 256) ? 4 : 0;
  return host.includes(":") && URL.canParse(`http://[${host}]`) ? 6 : 0;
};

/** No page is read, so no address need be told from others: all count as inside. */
export const networks: typeof node.networks = () => () => true;
