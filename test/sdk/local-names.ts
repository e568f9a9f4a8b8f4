import dns from "node:dns";

/** Resolves all names below localhost to this machine, as not every system does. */
const { lookup } = dns;
dns.lookup = ((name: string, ...rest: unknown[]) =>
  Reflect.apply(lookup, dns, [
    name.endsWith(".localhost") ? "127.0.0.1" : name,
    ...rest,
  ])) as typeof lookup;
