import type { KeyboardEvent } from 'react';
import { amount, textOf, word } from '../json.ts';
import { type ElementProps, triggersOn, useField } from './field.ts';

const MODES: Readonly<Record<string, 'text' | 'decimal' | 'email' | 'url'>> = {
  number_input: 'decimal',
  email_text_input: 'email',
  url_text_input: 'url',
};

/** Text, number, email and URL inputs; they differ in what problemOf refuses. */
export function TextInput(props: ElementProps) {
  const { element, labels, dispatches } = props;
  const { state, keep, press, pending, aftermath, aria } = useField(props);
  const type = word(element.type);
  const value = textOf(state.value);
  const many = element.multiline === true;

  function onType(typed: string) {
    const next = { type, value: typed === '' ? null : typed };
    keep(next);
    if (dispatches && triggersOn(element, 'on_character_entered')) press(next);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || many || event.nativeEvent.isComposing) return;
    if (!dispatches || !triggersOn(element, 'on_enter_pressed')) return;
    event.preventDefault();
    press({ type, value });
  }

  const shared = {
    ...aria,
    ...(labels === undefined ? {} : { id: labels.id }),
    className: 'input',
    value,
    placeholder: textOf(element.placeholder) || (many ? '' : 'Write something'),
    onKeyDown,
    'aria-busy': pending,
  };
  return (
    <div className="text-input">
      {many ? (
        <textarea {...shared} rows={4} onChange={(event) => onType(event.target.value)} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={MODES[type] ?? 'text'}
          autoComplete="off"
          onChange={(event) => onType(event.target.value)}
        />
      )}
      <Remaining length={value.length} max={amount(element.max_length)} />
      {aftermath}
    </div>
  );
}

function Remaining({ length, max }: { length: number; max: number | null }) {
  if (max === null || length < max * 0.8) return null;
  return <span className={length > max ? 'remaining over' : 'remaining'}>{max - length}</span>;
}
