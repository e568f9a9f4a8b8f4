import { useEffect, useState } from "preact/hooks";
import type { addressOf } from "./blobs.ts";
import { readCsv } from "./csv.ts";
import { isParquet, ParquetPreview } from "./parquet-preview.tsx";
import type { Account } from "./storage.ts";

/** A preview of more would only make the page slow. */
const PREVIEW_BYTES = 64 * 1024;

interface Previewed {
  readonly account: Account;
  readonly at: ReturnType<typeof addressOf>;
  readonly type: string;
  readonly bytes: number;
}

/** What a blob has in it, as far as a page can show that. */
export function Preview(props: Previewed & { name: string }) {
  const { account, at, bytes, name, type } = props;
  if (isParquet(name, type)) return <ParquetPreview account={account} at={at} bytes={bytes} />;
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(type)) return <ImagePreview {...props} />;
  if (/^text\/|json|xml|csv|javascript|yaml/.test(type)) return <TextPreview {...props} />;
  return null;
}

function ImagePreview({ account, at }: Previewed) {
  const [image, setImage] = useState<string | null>(null);
  // There is one preview for each blob.
  useEffect(() => {
    let url: string | null = null;
    let isOver = false;
    account.ask(at).then(
      async (answer) => {
        const blob = await answer.blob();
        if (isOver) return;
        url = URL.createObjectURL(blob);
        setImage(url);
      },
      () => {},
    );
    return () => {
      isOver = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, []);
  if (image === null) return null;
  return (
    <section aria-label="Preview">
      <h3>Preview</h3>
      <div class="preview">
        <img src={image} alt="Preview of the blob" />
      </div>
    </section>
  );
}

/** The beginning of a text. */
function TextPreview({ account, at, bytes, type }: Previewed) {
  const [text, setText] = useState<string | null>(null);
  // There is one preview for each blob.
  useEffect(() => {
    // A range of an empty blob is refused.
    const headers: Record<string, string> =
      bytes === 0 ? {} : { range: `bytes=0-${PREVIEW_BYTES - 1}` };
    account.ask({ ...at, headers }).then(
      async (answer) => setText(await answer.text()),
      () => {},
    );
  }, []);
  if (text === null) return null;
  const isCut = bytes > PREVIEW_BYTES;
  return (
    <section aria-label="Preview">
      <h3>Preview</h3>
      {isCut ? <p class="hint">The first 64 KiB.</p> : null}
      {type.includes("csv") && text !== "" ? (
        <Csv text={text} isCut={isCut} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls can be scrolled by keys.
        <pre class="preview" tabIndex={0}>
          {text === "" ? "The blob is empty." : pretty(text, type)}
        </pre>
      )}
    </section>
  );
}

function Csv({ text, isCut }: { text: string; isCut: boolean }) {
  const [names = [], ...rows] = readCsv(text, isCut);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls can be scrolled by keys.
    <section class="preview" tabIndex={0} aria-label="Rows">
      <table class="plain">
        <thead>
          <tr>
            {names.map((name, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((field, at) => (
                <td key={at}>{field}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function pretty(text: string, type: string): string {
  if (!type.includes("json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
