import { useRef, useState } from "preact/hooks";
import { completeFilter, type SeenProperty, type Suggestion } from "./filter-completion.ts";

const LIST_ID = "filter-choices";

/**
 * A filter with completion. Arrow keys choose a suggestion, Enter or Tab takes it, Escape closes
 * the list; Enter without a choice sends the form.
 */
export function FilterInput(props: {
  value: string;
  properties: ReadonlyMap<string, SeenProperty>;
  onInput: (value: string) => void;
}) {
  const { value, properties, onInput } = props;
  const [cursor, setCursor] = useState<number | null>(null);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const { from, suggestions } =
    cursor === null ? { from: 0, suggestions: [] } : completeFilter(value, cursor, properties);
  const isOpen = suggestions.length > 0;
  const look = () => {
    setCursor(input.current?.selectionStart ?? null);
    setChosen(-1);
  };
  const close = () => {
    setCursor(null);
    setChosen(-1);
  };
  const take = ({ text, back }: Suggestion) => {
    const rest = value.slice(cursor ?? value.length);
    const written = `${value.slice(0, from)}${text}`;
    onInput(written + rest);
    const at = written.length - back;
    // After the page has the new text.
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at, at);
      look();
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return look();
    }
    if (!isOpen) return;
    const count = suggestions.length;
    const picked = suggestions[chosen];
    if (event.key === "ArrowDown") setChosen((chosen + 1) % count);
    else if (event.key === "ArrowUp") setChosen((Math.max(chosen, 0) + count - 1) % count);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && picked !== undefined) take(picked);
    else return;
    event.preventDefault();
  };
  return (
    <div class="combo">
      <input
        ref={input}
        role="combobox"
        placeholder="PartitionKey eq 'a' and Count gt 3"
        aria-label="Filter"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={LIST_ID}
        aria-activedescendant={chosen < 0 ? undefined : `${LIST_ID}-${chosen}`}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => {
          onInput(event.currentTarget.value);
          look();
        }}
        onClick={look}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <div id={LIST_ID} role="listbox" aria-label="Suggestions" class="choices" hidden={!isOpen}>
        {suggestions.map((one, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys reach it through the input.
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus.
          <div
            key={one.text}
            id={`${LIST_ID}-${at}`}
            role="option"
            aria-selected={at === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(one)}
          >
            <code>{one.text.trim()}</code> <span class="hint">{one.note}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
