import { Fragment, type RefObject, useEffect } from 'react';
import { withEmoji } from '../text/emoji.ts';
import { useFloating } from './floating.ts';
import type { Choice } from './options.ts';
import type { Offered } from './suggestions.ts';

interface Props {
  readonly id: string;
  readonly anchor: RefObject<HTMLDivElement | null>;
  readonly offered: Offered;
  readonly active: number;
  readonly chosen: readonly Choice[];
  readonly onChoose: (choice: Choice) => void;
  readonly onPoint: (at: number) => void;
}

export function OptionList({ id, anchor, offered, active, chosen, onChoose, onPoint }: Props) {
  const box = useFloating(anchor);
  const { choices, note } = offered;

  useEffect(() => {
    box.current?.querySelector(`[data-at="${active}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [box, active]);

  return (
    <div ref={box} popover="manual" className="floating options">
      <div role="listbox" id={id} aria-label="Options" tabIndex={-1}>
        {choices.map((choice, at) => (
          <Fragment key={choice.id}>
            {choice.group !== (choices[at - 1]?.group ?? '') && (
              <div className="option-group" role="presentation">
                {choice.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys */}
            <div
              role="option"
              tabIndex={-1}
              id={`${id}-${at}`}
              data-at={at}
              className={at === active ? 'option active' : 'option'}
              aria-selected={chosen.some((one) => one.id === choice.id)}
              // The focus stays in the field, where the typing goes.
              onMouseDown={(event) => event.preventDefault()}
              onMouseMove={() => onPoint(at)}
              onClick={() => onChoose(choice)}
            >
              {withEmoji(choice.text)}
              {choice.note !== '' && <small>{choice.note}</small>}
            </div>
          </Fragment>
        ))}
      </div>
      {note !== null && (
        <p className="menu-empty" role="status">
          {note}
        </p>
      )}
    </div>
  );
}
