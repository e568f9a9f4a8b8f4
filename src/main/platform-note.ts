/**
 * A line for platforms on which no test has run: without direct I/O, and with another lock of the
 * data folder. Null on Linux.
 */
export function platformNote(platform: NodeJS.Platform): string | null {
  if (platform === "linux") return null;
  return (
    `Lazuli was never tested on ${platform}: it writes through the page cache here, and locks its ` +
    "data folder in another way. Keep data that matters on Linux (docs/reference/platforms.md)."
  );
}
