import { isJson, stringOf, textOf } from '../../json.ts';
import { isSafeLink } from '../text/mrkdwn.ts';
import { type ElementProps, usePress } from './field.ts';
import { PressResult } from './press-result.tsx';

export function ButtonElement({ blockId, element }: ElementProps) {
  const pressed = usePress(blockId, element);
  const label = stringOf(element.accessibility_label);
  const url = stringOf(element.url);

  function onPress() {
    if (pressed.pending || !isConfirmed(element)) return;
    if (isSafeLink(url)) open(url, '_blank', 'noopener,noreferrer');
    const { text, value } = element;
    pressed.press({ type: 'button', text, ...(value === undefined ? {} : { value }) });
  }

  return (
    <span className="pressable">
      <button
        type="button"
        className={`button ${stringOf(element.style)}`}
        aria-busy={pressed.pending}
        aria-disabled={pressed.pending}
        {...(label === '' ? {} : { 'aria-label': label })}
        onClick={onPress}
      >
        {textOf(element.text)}
        {pressed.pending && <span className="spinner" aria-hidden="true" />}
      </button>
      <PressResult pressed={pressed} />
    </span>
  );
}

/** Slack draws the confirmation dialog of a button; the page uses the browser's own. */
function isConfirmed({ confirm: dialog }: ElementProps['element']): boolean {
  return !isJson(dialog) || confirm(`${textOf(dialog.title)}\n\n${textOf(dialog.text)}`);
}
