import type { KeyboardEvent } from 'react';
import { numberOf, stringOf, textOf } from '../../json.ts';
import { type ElementProps, useField } from './field.ts';
import { PressResult } from './press-result.tsx';

/** The plain text and number inputs; they differ only in the server's field errors. */
export function TextInput(props: ElementProps) {
  const { element, dispatches } = props;
  const { state, setState, pressed, aria } = useField(props);
  const type = stringOf(element.type);
  const value = textOf(state.value);
  const isMultiline = element.multiline === true;

  function onType(typed: string) {
    setState({ type, value: typed === '' ? null : typed });
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || isMultiline || event.nativeEvent.isComposing) return;
    // Slack sends an action when the person presses Enter, if the bot requests actions.
    if (!dispatches) return;
    event.preventDefault();
    pressed.press({ type, value });
  }

  const shared = {
    ...aria,
    className: 'input',
    value,
    placeholder: textOf(element.placeholder) || (isMultiline ? '' : 'Write something'),
    onKeyDown,
    'aria-busy': pressed.pending,
  };
  return (
    <div className="text-input">
      {isMultiline ? (
        <textarea {...shared} rows={4} onChange={(event) => onType(event.target.value)} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={type === 'number_input' ? 'decimal' : 'text'}
          autoComplete="off"
          onChange={(event) => onType(event.target.value)}
        />
      )}
      <Remaining length={value.length} max={numberOf(element.max_length)} />
      <PressResult pressed={pressed} />
    </div>
  );
}

function Remaining({ length, max }: { length: number; max: number | null }) {
  if (max === null || length < max * 0.8) return null;
  return <span className={length > max ? 'remaining over' : 'remaining'}>{max - length}</span>;
}
