/** Which IP addresses belong to hosts of the Internet. */

import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IANA's IPv4 special-purpose address registry (RFC 6890), and multicast. */
const specialIpv4 = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private use'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local: metadata services of clouds'],
  ['172.16.0.0', 12, 'private use'],
  ['192.0.0.0', 24, 'protocol assignments'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.31.196.0', 24, 'AS112'],
  ['192.52.193.0', 24, 'AMT'],
  ['192.88.99.0', 24, '6to4 relays'],
  ['192.168.0.0', 16, 'private use'],
  ['192.175.48.0', 24, 'AS112'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved, broadcast'],
] as const;

/** The only block of IPv6 that global unicast addresses are assigned from (RFC 4291, IANA). */
const globalIpv6 = ['2000::', 3] as const;

/** IANA's IPv6 special-purpose address registry, within that block. */
const specialIpv6 = [
  ['2001::', 23, 'protocol assignments: Teredo, benchmarks, ORCHID'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4: holds an IPv4 address'],
  ['2620:4f:8000::', 48, 'AS112'],
  ['3fff::', 20, 'documentation'],
] as const;

/**
 * IPv6 prefixes of addresses that mean the IPv4 address in their last 32 bits: mapped (RFC 4291)
 * and NAT64 (RFC 6052).
 */
const embeddingPrefixes = ['::ffff:', '64:ff9b::'];

const special = new BlockList();
const global = new BlockList();
for (const [net, prefix] of specialIpv4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of specialIpv6) special.addSubnet(net, prefix, 'ipv6');
global.addSubnet(...globalIpv6, 'ipv6');

/**
 * Whether the address, in any notation, belongs to a host of the Internet: global unicast by IANA's
 * registries. A mapped or NAT64 address is judged by its IPv4 address. False for
 * what is not an address.
 */
export function isGlobalUnicast(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) return isGlobalUnicast(embedded);
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

function embeddedIpv4(address: string): string | undefined {
  // A URL writes an IPv6 address in its one canonical form (RFC 5952).
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const prefix = embeddingPrefixes.find((each) => canonical.startsWith(each));
  if (prefix === undefined) return undefined;
  const groups = canonical.slice(prefix.length).split(':');
  if (groups.length > 2) return undefined;
  const number = groups.reduce((sum, group) => sum * 65_536 + Number.parseInt(group || '0', 16), 0);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
