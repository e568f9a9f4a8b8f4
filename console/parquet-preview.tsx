import { countText } from "./format.ts";
import {
  footerBytesOf,
  type ParquetSchema,
  readParquetSchema,
  TAIL_BYTES,
} from "./parquet-schema.ts";
import { Problem, useLoaded } from "./parts.tsx";
import type { Account, Asked } from "./storage.ts";

/** Read at first: most footers are shorter. */
const FIRST_BYTES = 64 * 1024;
/** A longer footer would only make the page slow. */
const FOOTER_BYTES_MAX = 8 * 1024 * 1024;

const COLUMNS_MAX = 500;

export function isParquet(name: string, type: string): boolean {
  return name.toLowerCase().endsWith(".parquet") || /parquet/.test(type);
}

/** The columns of a Parquet file, of which only the end is read. */
export function ParquetPreview(props: { account: Account; at: Asked; bytes: number }) {
  const { account, at, bytes } = props;
  const { value, error } = useLoaded(() => readSchema(account, at, bytes), []);
  if (value === null) return <Problem error={error} />;
  return (
    <section aria-label="Preview">
      <h3>Parquet</h3>
      <p class="hint">
        {countText(value.rows)} rows
        {value.createdBy === "" ? "" : `, written by ${value.createdBy}`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls can be scrolled by keys. */}
      <section class="preview" aria-label="Columns" tabIndex={0}>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Type</th>
              <th scope="col">Values</th>
            </tr>
          </thead>
          <tbody>
            {value.columns.slice(0, COLUMNS_MAX).map(({ name, depth, type, repetition }, row) => (
              <tr key={row}>
                <td>{`${"\u2003".repeat(depth)}${name}`}</td>
                <td>{type}</td>
                <td>{repetition}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {value.columns.length > COLUMNS_MAX ? (
        <p class="hint">
          The first {COLUMNS_MAX} of {countText(value.columns.length)} columns.
        </p>
      ) : null}
    </section>
  );
}

async function readSchema(account: Account, at: Asked, bytes: number): Promise<ParquetSchema> {
  const read = async (from: number) => {
    const headers = { range: `bytes=${from}-${bytes - 1}` };
    const blob = await (await account.ask({ ...at, headers })).blob();
    return new Uint8Array(await blob.arrayBuffer());
  };
  if (bytes < TAIL_BYTES) throw new Error("This is no Parquet file: it is too short.");
  const end = await read(Math.max(0, bytes - FIRST_BYTES));
  const footer = footerBytesOf(end.subarray(-TAIL_BYTES));
  const whole = footer + TAIL_BYTES;
  if (whole > bytes) throw new Error("The footer of this Parquet file is damaged: it is too long.");
  if (footer > FOOTER_BYTES_MAX) {
    throw new Error("The schema of this Parquet file is too large to be shown here.");
  }
  const all = whole <= end.length ? end : await read(bytes - whole);
  return readParquetSchema(all.subarray(all.length - whole, all.length - TAIL_BYTES));
}
