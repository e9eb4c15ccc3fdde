import { useState } from 'react';
import { type Json, textOf } from '../../json.ts';
import { useSurfaceContext } from '../blocks/surface.ts';

/** The ids with which an `input` block connects its label, hint and error to the element. */
export interface Labels {
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  readonly isOptional: boolean;
}

export interface ElementProps {
  readonly blockId: string;
  readonly element: Json;
  /** True when each change is an action: outside of `input` blocks, or if the bot requests it. */
  readonly dispatches: boolean;
  readonly labels?: Labels;
}

export type Press = ReturnType<typeof usePress>;

export function usePress(blockId: string, element: Json) {
  const surface = useSurfaceContext();
  const [pending, setPending] = useState(false);
  /** Slack's error for the last delivery, or null. */
  const [failure, setFailure] = useState<string | null>(null);

  async function send(payload: Json) {
    setPending(true);
    setFailure(null);
    const { error } = await surface.press(blockId, element, payload);
    setPending(false);
    setFailure(error);
  }

  return { pending, failure, press: (payload: Json) => void send(payload) };
}

export function useField({ blockId, element, labels }: ElementProps) {
  const surface = useSurfaceContext();
  return {
    pressed: usePress(blockId, element),
    state: surface.stateOf(blockId, element),
    setState: (state: Json) => surface.change(blockId, element, state),
    /** The attributes for the label, hint and error of the element. */
    aria:
      labels === undefined
        ? { 'aria-label': textOf(element.placeholder) || 'Select an option' }
        : {
            id: labels.id,
            'aria-labelledby': labels.labelledBy,
            'aria-describedby': labels.describedBy,
            ...(labels.isInvalid ? { 'aria-invalid': true } : {}),
            ...(element.focus_on_load === true ? { 'data-focus-on-load': true } : {}),
          },
  };
}
