import type { Json } from '../../protocol.ts';
import { textOf, word } from '../json.ts';
import { withEmoji } from '../text/emoji.ts';
import { isSafeLink } from '../text/mrkdwn.ts';
import { usePress } from './press.tsx';

const LOOKS: Readonly<Record<string, string>> = { primary: 'primary', danger: 'danger' };

export function ButtonElement({ blockId, element }: { blockId: string; element: Json }) {
  const { pending, press, aftermath } = usePress(blockId, element);
  const look = LOOKS[word(element.style)] ?? '';
  const name = word(element.accessibility_label);
  const url = word(element.url);

  function onPress() {
    if (pending) return;
    if (isSafeLink(url)) open(url, '_blank', 'noopener,noreferrer');
    const { text, value } = element;
    press({ type: 'button', text, ...(value === undefined ? {} : { value }) });
  }

  return (
    <span className="pressable">
      <button
        type="button"
        className={`button ${look}`}
        aria-busy={pending}
        aria-disabled={pending}
        {...(name === '' ? {} : { 'aria-label': name })}
        onClick={onPress}
      >
        {withEmoji(textOf(element.text))}
        {pending && <span className="spinner" aria-hidden="true" />}
      </button>
      {aftermath}
    </span>
  );
}
