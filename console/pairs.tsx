import { useEffect, useState } from "preact/hooks";

type AllPairs = readonly (readonly [string, string])[];

/**
 * Names and values that a user may change. They stay as edited until they are saved, and so does the
 * version that the user saw when editing began: what others change meanwhile is not overwritten.
 */
export function Pairs(props: {
  title: string;
  hint?: (version: string) => string;
  pairs: AllPairs;
  /** Of what the pairs were read from. */
  version?: string;
  /** Rises when the user has asked to read again: the edits are then of the version that was read. */
  timesRead?: number;
  /** Resolves to whether they were saved, when they have been read again. */
  onSave: (pairs: AllPairs, version: string) => Promise<boolean>;
}) {
  const { title, hint, pairs, version = "", timesRead = 0, onSave } = props;
  const [edits, setEdits] = useState<{ pairs: AllPairs; version: string } | null>(null);
  useEffect(() => setEdits((known) => known && { ...known, version }), [timesRead]);
  const shown = edits?.pairs ?? pairs;
  const edit = (next: AllPairs) => setEdits({ pairs: next, version: edits?.version ?? version });
  const change = (at: number, pair: readonly [string, string]) =>
    edit(shown.map((one, index) => (index === at ? pair : one)));
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div class="pairs">
        {shown.map(([name, text], at) => (
          <>
            <input
              key={`${at} name`}
              aria-label={`${title}: name`}
              value={name}
              onInput={(event) => change(at, [event.currentTarget.value, text])}
            />
            <input
              key={`${at} value`}
              aria-label={`${title}: value of ${name}`}
              value={text}
              onInput={(event) => change(at, [name, event.currentTarget.value])}
            />
            <button
              key={`${at} remove`}
              type="button"
              class="small"
              aria-label={`Remove ${name}`}
              onClick={() => edit(shown.filter((_, index) => index !== at))}
            >
              ✕
            </button>
          </>
        ))}
      </div>
      <div class="tools">
        <button type="button" class="small" onClick={() => edit([...shown, ["", ""]])}>
          Add to {title.toLowerCase()}
        </button>
        {edits === null ? null : (
          <>
            <button
              type="button"
              class="small primary"
              onClick={async () => {
                const named = edits.pairs.filter(([name]) => name !== "");
                if (await onSave(named, edits.version)) setEdits(null);
              }}
            >
              Save {title.toLowerCase()}
            </button>
            {hint === undefined ? null : <span class="hint">{hint(edits.version)}</span>}
          </>
        )}
      </div>
    </section>
  );
}
