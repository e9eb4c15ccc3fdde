import { amount, word } from '../json.ts';
import { useSession } from '../session.ts';
import { heldKey, holdsMany } from './element-state.ts';
import { type ElementProps, useField } from './field.ts';
import { type Choice, chosenOf } from './options.ts';

/** What a select holds, and how a choice changes it: one replaces, many toggle. */
export function useSelection(props: ElementProps) {
  const { element } = props;
  const { screen } = useSession();
  const field = useField(props);
  const type = word(element.type);
  const many = holdsMany(type);
  const chosen = chosenOf(field.state[heldKey(type)], screen);
  const most = amount(element.max_selected_items) ?? Number.POSITIVE_INFINITY;

  function hold(all: readonly Choice[]) {
    const held = all.map((one) => one.held);
    field.change({ type, [heldKey(type)]: many ? held : (held[0] ?? null) });
  }

  function toggle(choice: Choice) {
    const rest = chosen.filter(({ id }) => id !== choice.id);
    if (!many) hold([choice]);
    else if (rest.length < chosen.length) hold(rest);
    else if (chosen.length < most) hold([...chosen, choice]);
  }

  return { field, many, chosen, hold, toggle };
}
