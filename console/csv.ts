/** More rows would only make the page slow. */
const ROWS_MAX = 200;

/**
 * The first rows of a text of comma-separated values, as RFC 4180 has them. `isCut`: the text may
 * end within a row, which is left out then.
 */
export function readCsv(text: string, isCut = false): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endRow = () => {
    rows.push([...row, field]);
    row = [];
    field = "";
  };
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length; at++) {
    const char = text[at];
    if (rows.length > ROWS_MAX) return rows;
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text[at + 1] === '"') field += text[at++];
      else isQuoted = false;
    } else if (char === '"' && field === "") isQuoted = true;
    else if (char === ",") {
      row.push(field);
      field = "";
    } else if (char === "\n") endRow();
    else if (char !== "\r") field += char;
  }
  if (!isCut && (field !== "" || row.length > 0)) endRow();
  return rows;
}
