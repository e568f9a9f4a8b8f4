/** Lines with columns. The last column is not padded: its texts may be long. */
export function textTable(
  table: readonly (readonly string[])[],
  align: "left" | "right",
): string[] {
  const pad = (cell: string, width: number) =>
    align === "left" ? cell.padEnd(width) : cell.padStart(width);
  const widths = (table[0] ?? []).map((_, at) =>
    Math.max(...table.map((row) => row[at]?.length ?? 0)),
  );
  return table.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : pad(cell, widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
