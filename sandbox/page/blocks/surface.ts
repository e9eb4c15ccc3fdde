import { createContext, use, useCallback, useMemo, useState } from 'react';
import type { Delivery, Json, Place } from '../../protocol.ts';
import {
  type Edited,
  edits,
  initialState,
  problemsOf,
  valuesOf,
} from '../elements/element-state.ts';
import { word } from '../json.ts';
import { useSession } from '../session.ts';

type Refusals = Readonly<Record<string, string>>;

const NONE: Refusals = {};

/** One message, modal or home: where its elements stand, and what people filled in so far. */
export interface Surface {
  readonly place: Place;
  readonly errors: Refusals;
  readonly stateOf: (blockId: string, element: Json) => Json;
  readonly change: (blockId: string, element: Json, state: Json) => void;
  readonly press: (blockId: string, element: Json, payload: Json) => Promise<Delivery>;
}

export const SurfaceContext = createContext<Surface | null>(null);

export function useSurfaceContext(): Surface {
  const surface = use(SurfaceContext);
  if (surface === null) throw new Error('Drawn outside of a surface');
  return surface;
}

/**
 * Keeps what people typed when the bot sends the blocks again, as Slack does: a value belongs to
 * its block_id and action_id, and a new block_id starts from what the bot filled in.
 */
export function useSurface(place: Place, blocks: readonly Json[], refusals: Refusals = NONE) {
  const { screen, deliver } = useSession();
  const as = screen.me.id;
  const [edited, setEdited] = useState<Edited>({});
  const [tried, setTried] = useState(false);

  const change = useCallback((blockId: string, element: Json, state: Json) => {
    setEdited((before) => ({ ...before, [edits(blockId, element.action_id)]: state }));
  }, []);

  const surface = useMemo<Surface>(() => {
    const stateOf = (blockId: string, element: Json) =>
      edited[edits(blockId, element.action_id)] ?? initialState(element);
    const press = (blockId: string, element: Json, payload: Json) => {
      const key = edits(blockId, element.action_id);
      // The pressed element's new value is part of the state that goes with its own action.
      const now = key in edited || 'value' in payload ? edited : { ...edited, [key]: payload };
      const values = valuesOf(blocks, now);
      const actionId = word(element.action_id);
      return deliver('action', { as, place, blockId, actionId, element: payload, values });
    };
    const errors = { ...refusals, ...(tried ? problemsOf(blocks, edited) : {}) };
    return { place, errors, stateOf, change, press };
  }, [as, place, blocks, refusals, edited, tried, change, deliver]);

  const submit = useCallback(() => {
    setTried(true);
    const fit = Object.keys(problemsOf(blocks, edited)).length === 0;
    return fit ? valuesOf(blocks, edited) : null;
  }, [blocks, edited]);

  return { surface, submit };
}
