import type { Json } from '../../protocol.ts';
import { useSurfaceContext } from '../blocks/surface.ts';
import { isJson, list, textOf, word } from '../json.ts';
import { type Press, usePress } from './press.tsx';

/** How an `input` block ties its label, hint and error to the element inside. */
export interface Labels {
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly invalid: boolean;
  readonly optional: boolean;
}

export interface ElementProps {
  readonly blockId: string;
  readonly element: Json;
  /** Outside of an `input` block every change is an action; inside only when the bot asked. */
  readonly dispatches: boolean;
  readonly labels?: Labels;
}

export interface Field extends Press {
  readonly state: Json;
  /** Keeps the new state and tells the bot where it wants to hear of it. */
  readonly change: (state: Json) => void;
  readonly keep: (state: Json) => void;
  readonly aria: Json;
}

const FALLBACK: Readonly<Record<string, string>> = {
  datepicker: 'Date',
  timepicker: 'Time',
  datetimepicker: 'Date and time',
  checkboxes: 'Options',
  radio_buttons: 'Options',
};

function ariaOf({ element, labels }: ElementProps): Json {
  if (labels === undefined) {
    const name = textOf(element.placeholder) || FALLBACK[word(element.type)] || 'Select an option';
    return { 'aria-label': name };
  }
  const focus = element.focus_on_load === true ? { 'data-focus-on-load': true } : {};
  const invalid = labels.invalid ? { 'aria-invalid': true } : {};
  return {
    'aria-labelledby': labels.labelledBy,
    'aria-describedby': labels.describedBy,
    ...invalid,
    ...focus,
  };
}

export function useField(props: ElementProps): Field {
  const { blockId, element, dispatches } = props;
  const surface = useSurfaceContext();
  const pressed = usePress(blockId, element);
  const keep = (state: Json) => surface.change(blockId, element, state);

  function change(state: Json) {
    // An action that asks first must not look done before the answer.
    if (!(dispatches && isJson(element.confirm))) keep(state);
    if (dispatches) pressed.press(state);
  }
  return {
    ...pressed,
    state: surface.stateOf(blockId, element),
    change,
    keep,
    aria: ariaOf(props),
  };
}

export const triggersOn = (element: Json, moment: string): boolean => {
  const config = element.dispatch_action_config;
  if (!isJson(config)) return moment === 'on_enter_pressed';
  const moments: unknown = config.trigger_actions_on;
  return Array.isArray(moments) && moments.includes(moment);
};

export const optionsOf = (element: Json): readonly Json[] => list(element.options);
