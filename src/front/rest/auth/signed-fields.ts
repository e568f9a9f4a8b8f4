import { authenticationFailed } from "./refusals.ts";

/** The fields of the string to sign, for tokens of this version and later ones. */
export interface Row {
  readonly from: string;
  readonly fields: readonly string[];
}

/** Returns the row for a version; `rows` begins with the newest. */
export function rowFor(rows: readonly Row[], version: string): Row {
  const row = rows.find(({ from }) => version >= from);
  if (row === undefined) {
    throw authenticationFailed(
      rows.length === 0
        ? "This service does not take this kind of token."
        : `sv must be ${rows.at(-1)?.from} or later for this kind of token.`,
    );
  }
  return row;
}

export function words(text: string): readonly string[] {
  return text.split(" ");
}
