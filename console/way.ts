/** The names in the address behind `#/`, decoded. */
export function wayFromHash(): string[] {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  return parts.filter((part) => part !== "").map(decodeURIComponent);
}

export function linkTo(...way: readonly string[]): string {
  return `#/${way.map(encodeURIComponent).join("/")}`;
}
