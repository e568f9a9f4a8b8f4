/** A range of IPv4 addresses as numbers, both ends included. */
export interface IpRange {
  readonly first: number;
  readonly last: number;
}

const MAPPED_PREFIX = "::ffff:";

/** Parses `10.0.0.1` or `10.0.0.1-10.0.0.9`; null if it is neither. */
export function parseIpRange(text: string): IpRange | null {
  const hyphen = text.indexOf("-");
  const first = parseIpv4(hyphen < 0 ? text : text.slice(0, hyphen));
  const last = hyphen < 0 ? first : parseIpv4(text.slice(hyphen + 1));
  return first === null || last === null ? null : { first, last };
}

/** Treats an IPv4-mapped IPv6 address as the IPv4 address. */
export function isWithinRange(range: IpRange, remoteAddress: string): boolean {
  const mapped = remoteAddress.toLowerCase().startsWith(MAPPED_PREFIX);
  const address = parseIpv4(mapped ? remoteAddress.slice(MAPPED_PREFIX.length) : remoteAddress);
  return address !== null && range.first <= address && address <= range.last;
}

function parseIpv4(text: string): number | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  let address = 0;
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null;
    address = address * 256 + Number(part);
  }
  return address;
}
