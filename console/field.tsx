import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A labelled control with an explanation. `control` gets the ids that tie them together. */
export function Field(props: {
  label: string;
  hint?: ComponentChildren;
  control: (ids: { id: string; "aria-describedby": string | undefined }) => ComponentChildren;
}) {
  const id = useId();
  const hintId = props.hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.control({ id, "aria-describedby": hintId })}
      {props.hint === undefined ? null : <small id={hintId}>{props.hint}</small>}
    </div>
  );
}

export function TextField(props: {
  label: string;
  hint?: ComponentChildren;
  value: string;
  placeholder?: string;
  onChange: (value: string) => void;
}) {
  const { label, hint, value, placeholder, onChange } = props;
  return (
    <Field
      label={label}
      {...(hint === undefined ? {} : { hint })}
      control={(ids) => (
        <input
          {...ids}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    />
  );
}

export function Choice<T extends string>(props: {
  label: string;
  hint?: ComponentChildren;
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  onChange: (value: T) => void;
}) {
  const { label, hint, value, options, onChange } = props;
  return (
    <Field
      label={label}
      {...(hint === undefined ? {} : { hint })}
      control={(ids) => (
        <select
          {...ids}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as T)}
        >
          {options.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}

/** Letters to choose from, each with its meaning. Keeps them in the order of `options`. */
export function Letters(props: {
  title: string;
  hint?: string;
  options: readonly (readonly [letter: string, text: string])[];
  value: string;
  onChange: (value: string) => void;
}) {
  const { title, hint, options, value, onChange } = props;
  const toggle = (letter: string, isOn: boolean) => {
    const kept = options.filter(([one]) => (one === letter ? isOn : value.includes(one)));
    onChange(kept.map(([one]) => one).join(""));
  };
  return (
    <fieldset class="letters">
      <legend>{title}</legend>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      {options.map(([letter, text]) => (
        <label key={letter}>
          <input
            type="checkbox"
            checked={value.includes(letter)}
            onChange={(event) => toggle(letter, event.currentTarget.checked)}
          />{" "}
          <code>{letter}</code> {text}
        </label>
      ))}
    </fieldset>
  );
}
