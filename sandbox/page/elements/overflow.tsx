import { textOf, word } from '../json.ts';
import { isSafeLink } from '../text/mrkdwn.ts';
import { type ElementProps, optionsOf } from './field.ts';
import { Menu } from './menu.tsx';
import { usePress } from './press.tsx';

export function Overflow({ blockId, element }: ElementProps) {
  const { press, pending, aftermath } = usePress(blockId, element);
  const items = optionsOf(element).map((option) => ({
    id: word(option.value) || textOf(option.text),
    label: textOf(option.text),
    note: textOf(option.description),
    act: () => {
      const url = word(option.url);
      if (isSafeLink(url)) open(url, '_blank', 'noopener,noreferrer');
      press({ type: 'overflow', selected_option: option });
    },
  }));
  return (
    <span className="pressable" aria-busy={pending}>
      <Menu label="More options" className="button overflow" items={items}>
        <span aria-hidden="true">···</span>
      </Menu>
      {aftermath}
    </span>
  );
}
