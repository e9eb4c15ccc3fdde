import { list, stringOf, textOf } from '../../json.ts';
import { isSafeLink } from '../text/mrkdwn.ts';
import { type ElementProps, usePress } from './field.ts';
import { Menu } from './menu.tsx';
import { PressResult } from './press-result.tsx';

export function OverflowElement({ blockId, element }: ElementProps) {
  const pressed = usePress(blockId, element);
  const items = list(element.options).map((option) => ({
    id: stringOf(option.value) || textOf(option.text),
    label: textOf(option.text),
    note: textOf(option.description),
    act: () => {
      const url = stringOf(option.url);
      if (isSafeLink(url)) open(url, '_blank', 'noopener,noreferrer');
      pressed.press({ type: 'overflow', selected_option: option });
    },
  }));
  return (
    <span className="pressable" aria-busy={pressed.pending}>
      <Menu label="More options" className="button overflow" items={items}>
        <span aria-hidden="true">···</span>
      </Menu>
      <PressResult pressed={pressed} />
    </span>
  );
}
