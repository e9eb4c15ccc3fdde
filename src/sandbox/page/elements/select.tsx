import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react';
import type { Json } from '../../protocol.ts';
import { amount, textOf, word } from '../json.ts';
import { useSession } from '../session.ts';
import { heldKey, holdsMany } from './element-state.ts';
import { type ElementProps, useField } from './field.ts';
import { useAway } from './floating.ts';
import { OptionList } from './option-list.tsx';
import { type Choice, chosenOf } from './options.ts';
import { type Offered, useOffered } from './suggestions.ts';

const NOTHING: Offered = { choices: [], note: null };

/** All of Slack's selects: static, external, of users and of conversations, for one or for many. */
export function Select(props: ElementProps) {
  const { element, labels } = props;
  const { screen } = useSession();
  const field = useField(props);
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const around = useRef<HTMLDivElement>(null);
  const listId = useId();

  const type = word(element.type);
  const many = holdsMany(type);
  const chosen = chosenOf(field.state[heldKey(type)], screen);
  const first = chosen[0];

  const close = useCallback(() => {
    setOpen(false);
    setQuery('');
  }, []);
  useAway(around, close);

  const hold = (all: readonly Choice[]) => {
    const held = all.map((one) => one.held);
    field.change({ type, [heldKey(type)]: many ? held : (held[0] ?? null) } as Json);
  };

  function choose(choice: Choice) {
    const rest = chosen.filter(({ id }) => id !== choice.id);
    const most = amount(element.max_selected_items) ?? Number.POSITIVE_INFINITY;
    if (!many) hold([choice]);
    else if (rest.length < chosen.length || chosen.length < most)
      hold(rest.length < chosen.length ? rest : [...chosen, choice]);
    close();
  }

  const offered = useOpenOffers(open, props, query);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = offered.choices[active];
    if (event.key === 'Escape' && open) close();
    else if (step !== undefined && !open) setOpen(true);
    else if (step !== undefined)
      setActive(Math.max(0, Math.min(active + step, offered.choices.length - 1)));
    else if (event.key === 'Enter' && open && choice !== undefined) choose(choice);
    else if (event.key === 'Backspace' && query === '' && many) hold(chosen.slice(0, -1));
    else return event.key === 'Tab' ? close() : undefined;
    event.preventDefault();
  }

  return (
    <div ref={around} className="select" aria-busy={field.pending}>
      <div className="select-field">
        {many &&
          chosen.map((one) => (
            <span key={one.id} className="token">
              {one.text}
              <button type="button" aria-label={`Remove ${one.text}`} onClick={() => choose(one)}>
                ✕
              </button>
            </span>
          ))}
        <input
          {...field.aria}
          {...(labels === undefined ? {} : { id: labels.id })}
          role="combobox"
          aria-expanded={open}
          aria-controls={listId}
          aria-autocomplete="list"
          {...(open ? { 'aria-activedescendant': `${listId}-${active}` } : {})}
          autoComplete="off"
          value={open || many ? query : (first?.text ?? '')}
          placeholder={
            (open && !many && first?.text) || textOf(element.placeholder) || 'Select an option'
          }
          onClick={() => setOpen(true)}
          // Typing over a choice starts a search of its own.
          onFocus={(event) => event.target.select()}
          onChange={(event) => {
            setQuery(event.target.value);
            setActive(0);
            setOpen(true);
          }}
          onKeyDown={onKeyDown}
        />
        {!many && first !== undefined && labels?.optional === true && (
          <button
            type="button"
            className="clear"
            aria-label="Clear selection"
            onClick={() => hold([])}
          >
            ✕
          </button>
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

/** A closed select asks nobody for anything. */
function useOpenOffers(open: boolean, { blockId, element }: ElementProps, query: string): Offered {
  const offered = useOffered(blockId, open ? element : CLOSED, query);
  return open ? offered : NOTHING;
}

const CLOSED: Json = { type: 'closed' };
