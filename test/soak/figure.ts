/** One measured promise. A soak mode prints as many of them as it measures. */
export interface Figure {
  readonly promise: string;
  readonly found: string;
  readonly bar: string;
  readonly met: boolean;
}

/** Prints figures as a table and sets the exit code: 1 if a bar is missed. */
export function report(figures: readonly Figure[]): void {
  console.log("| promise | found | bar | |\n|---|---|---|---|");
  for (const { promise, found, bar, met } of figures) {
    console.log(`| ${promise} | ${found} | ${bar} | ${met ? "met" : "MISSED"} |`);
  }
  if (figures.some(({ met }) => !met)) process.exitCode = 1;
}
