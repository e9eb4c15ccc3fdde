import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react';
import type { Json } from '../../protocol.ts';
import { textOf } from '../json.ts';
import type { ElementProps } from './field.ts';
import { useAway } from './floating.ts';
import { OptionList } from './option-list.tsx';
import type { Choice } from './options.ts';
import { ClearButton, SelectTokens } from './select-tokens.tsx';
import { useSelection } from './selection.ts';
import { type Offered, useOffered } from './suggestions.ts';

/** All of Slack's selects: static, external, of users and of conversations, for one or for many. */
export function Select(props: ElementProps) {
  const { element, labels } = props;
  const { field, many, chosen, hold, toggle } = useSelection(props);
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const around = useRef<HTMLDivElement>(null);
  const listId = useId();
  const offered = useOpenOffers(open, props, query);
  const first = many ? undefined : chosen[0];

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

  function choose(choice: Choice) {
    toggle(choice);
    close();
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = offered.choices[active];
    const last = offered.choices.length - 1;
    if (event.key === 'Tab') return close();
    if (event.key === 'Escape' && open) close();
    else if (step !== undefined && !open) setOpen(true);
    else if (step !== undefined) setActive(Math.max(0, Math.min(active + step, last)));
    else if (event.key === 'Enter' && open && choice !== undefined) choose(choice);
    else if (event.key === 'Backspace' && query === '' && many) hold(chosen.slice(0, -1));
    else return;
    event.preventDefault();
  }

  return (
    <div ref={around} className="select" aria-busy={field.pending}>
      <div className="select-field">
        {many && <SelectTokens chosen={chosen} onRemove={choose} />}
        <input
          {...field.aria}
          {...(labels === undefined ? {} : { id: labels.id })}
          role="combobox"
          aria-expanded={open}
          aria-controls={listId}
          aria-autocomplete="list"
          {...(open ? { 'aria-activedescendant': `${listId}-${active}` } : {})}
          autoComplete="off"
          value={open ? query : (first?.text ?? query)}
          placeholder={first?.text ?? (textOf(element.placeholder) || 'Select an option')}
          onClick={() => setOpen(true)}
          // Typing over a choice starts a search of its own.
          onFocus={(event) => event.target.select()}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {first !== undefined && labels?.optional === true && (
          <ClearButton onClear={() => hold([])} />
        )}
        <span className="chevron" aria-hidden="true" />
      </div>
      {open && (
        <OptionList
          {...{ id: listId, anchor: around, offered, active, chosen }}
          onChoose={choose}
          onPoint={setActive}
        />
      )}
      {field.aftermath}
    </div>
  );
}

const NOTHING: Offered = { choices: [], note: null };
const CLOSED: Json = { type: 'closed' };

/** A closed select asks nobody for anything. */
function useOpenOffers(open: boolean, { blockId, element }: ElementProps, query: string): Offered {
  const offered = useOffered(blockId, open ? element : CLOSED, query);
  return open ? offered : NOTHING;
}
