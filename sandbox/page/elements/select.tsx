import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react';
import { stringOf, textOf } from '../../json.ts';
import { valueKey } from '../../slack/input-state.ts';
import { useSession } from '../session.ts';
import { type ElementProps, useField } from './field.ts';
import { useAway } from './floating.ts';
import { OptionList } from './option-list.tsx';
import { type Choice, chosenOf } from './options.ts';
import { PressResult } from './press-result.tsx';
import { useOptions } from './suggestions.ts';

/** The static, external and conversations selects. */
export function Select(props: ElementProps) {
  const { blockId, element, labels, dispatches } = props;
  const { client } = useSession();
  const { state, setState, pressed, aria } = useField(props);
  const [query, setQuery] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const around = useRef<HTMLDivElement>(null);
  const listId = useId();
  const options = useOptions(blockId, element, query, isOpen);
  const type = stringOf(element.type);
  const key = valueKey(type);
  const chosen = chosenOf(state[key], client);

  const close = useCallback(() => {
    setOpen(false);
    setQuery('');
  }, []);
  useAway(around, close);

  function search(typed: string) {
    setQuery(typed);
    setActive(0);
    setOpen(true);
  }

  function choose(choice: Choice | null) {
    const next = { type, [key]: choice?.held ?? null };
    setState(next);
    if (dispatches) pressed.press(next);
    close();
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = options.choices[active];
    const last = options.choices.length - 1;
    if (event.key === 'Tab') return close();
    if (event.key === 'Escape' && isOpen) close();
    else if (step !== undefined && !isOpen) setOpen(true);
    else if (step !== undefined) setActive(Math.max(0, Math.min(active + step, last)));
    else if (event.key === 'Enter' && isOpen && choice !== undefined) choose(choice);
    else return;
    event.preventDefault();
  }

  return (
    <div ref={around} className="select" aria-busy={pressed.pending}>
      <div className="select-field">
        <input
          {...aria}
          role="combobox"
          aria-expanded={isOpen}
          aria-autocomplete="list"
          {...(isOpen
            ? { 'aria-controls': listId, 'aria-activedescendant': `${listId}-${active}` }
            : {})}
          autoComplete="off"
          value={isOpen ? query : (chosen?.text ?? query)}
          placeholder={chosen?.text ?? (textOf(element.placeholder) || 'Select an option')}
          onClick={() => setOpen(true)}
          // Typing replaces the selected option with a search.
          onFocus={(event) => event.target.select()}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {chosen !== null && labels?.isOptional === true && (
          <button
            type="button"
            className="clear"
            aria-label="Clear selection"
            onClick={() => choose(null)}
          >
            ✕
          </button>
        )}
        <span className="chevron" aria-hidden="true" />
      </div>
      {isOpen && (
        <OptionList
          {...{ id: listId, anchor: around, options, active, chosen }}
          onChoose={choose}
          onPoint={setActive}
        />
      )}
      <PressResult pressed={pressed} />
    </div>
  );
}
