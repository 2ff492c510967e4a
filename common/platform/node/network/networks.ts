import { BlockList, isIP } from "node:net";

export { lookup } from "node:dns/promises";
export { isIP };

/** Why pages of others cannot be read here; undefined where they can. */
export const whyNoPages: string | undefined = undefined;

/** Whether an address lies in one of these networks, given with their bits. */
export function networks(
  ipv4: readonly (readonly [string, number])[],
  ipv6: readonly (readonly [string, number])[],
): (address: string) => boolean {
  const list = new BlockList();
  for (const [net, bits] of ipv4) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of ipv6) list.addSubnet(net, bits, "ipv6");
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
