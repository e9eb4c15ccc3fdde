import { Fragment, type RefObject, useEffect } from 'react';
import { useFloating } from './floating.ts';
import type { Choice } from './options.ts';
import type { OptionsState } from './suggestions.ts';

interface Props {
  readonly id: string;
  readonly anchor: RefObject<HTMLDivElement | null>;
  readonly options: OptionsState;
  readonly active: number;
  readonly chosen: Choice | null;
  readonly onChoose: (choice: Choice) => void;
  readonly onPoint: (at: number) => void;
}

export function OptionList({ id, anchor, options, active, chosen, onChoose, onPoint }: Props) {
  const box = useFloating(anchor);
  const { choices, note } = options;

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
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys */}
            <div
              role="option"
              tabIndex={-1}
              id={`${id}-${at}`}
              data-at={at}
              className={at === active ? 'option active' : 'option'}
              aria-selected={chosen?.id === choice.id}
              // The focus stays in the input.
              onMouseDown={(event) => event.preventDefault()}
              onMouseMove={() => onPoint(at)}
              onClick={() => onChoose(choice)}
            >
              {choice.text}
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
