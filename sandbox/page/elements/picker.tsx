import type { Json } from '../../protocol.ts';
import { amount, word } from '../json.ts';
import { heldKey } from './element-state.ts';
import { type ElementProps, useField } from './field.ts';

const INPUTS: Readonly<Record<string, string>> = {
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
};

const pad = (part: number) => String(part).padStart(2, '0');

/** Slack holds an instant in seconds; the browser's field wants local wall-clock time. */
function localOf(seconds: number | null): string {
  if (seconds === null) return '';
  const at = new Date(seconds * 1000);
  const day = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-');
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

function shown(state: Json): string {
  const held = state[heldKey(word(state.type))];
  return state.type === 'datetimepicker' ? localOf(amount(held)) : word(held);
}

function heldOf(type: string, typed: string): string | number | null {
  if (typed === '') return null;
  return type === 'datetimepicker' ? Math.floor(new Date(typed).getTime() / 1000) : typed;
}

export function Picker(props: ElementProps) {
  const { element, labels } = props;
  const { state, change, pending, aftermath, aria } = useField(props);
  const type = word(element.type);
  return (
    <span className="pressable">
      <input
        {...aria}
        {...(labels === undefined ? {} : { id: labels.id })}
        className="input picker"
        type={INPUTS[type]}
        value={shown(state)}
        aria-busy={pending}
        onChange={(event) => change({ type, [heldKey(type)]: heldOf(type, event.target.value) })}
      />
      {aftermath}
    </span>
  );
}
