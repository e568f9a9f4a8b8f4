import { useState } from "preact/hooks";

/** Names and values that a user may change. They stay as edited until they are saved. */
export function Pairs(props: {
  title: string;
  hint?: string;
  pairs: readonly (readonly [string, string])[];
  /** Resolves to whether they were saved. */
  onSave: (pairs: readonly (readonly [string, string])[]) => Promise<boolean>;
}) {
  const { title, hint, pairs, onSave } = props;
  const [edited, setEdited] = useState<readonly (readonly [string, string])[] | null>(null);
  const shown = edited ?? pairs;
  const change = (at: number, pair: readonly [string, string]) =>
    setEdited(shown.map((one, index) => (index === at ? pair : one)));
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
              onClick={() => setEdited(shown.filter((_, index) => index !== at))}
            >
              ✕
            </button>
          </>
        ))}
      </div>
      <div class="tools">
        <button type="button" class="small" onClick={() => setEdited([...shown, ["", ""]])}>
          Add to {title.toLowerCase()}
        </button>
        {edited === null ? null : (
          <>
            <button
              type="button"
              class="small primary"
              onClick={async () => {
                if (await onSave(edited.filter(([name]) => name !== ""))) setEdited(null);
              }}
            >
              Save {title.toLowerCase()}
            </button>
            {hint === undefined ? null : <span class="hint">{hint}</span>}
          </>
        )}
      </div>
    </section>
  );
}
