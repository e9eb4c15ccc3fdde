import { createContext, use, useCallback, useMemo, useState } from 'react';
import { type Json, stringOf } from '../../json.ts';
import type { Place, ViewValues } from '../../protocol.ts';
import { initialInputState, stateValues } from '../../slack/input-state.ts';
import { useSession } from '../session.ts';

type FieldErrors = Readonly<Record<string, string>>;

const NO_ERRORS: FieldErrors = {};

/** A message, modal or Home tab with the values that the person has entered in it. */
export type Surface = ReturnType<typeof useSurface>['surface'];

export const SurfaceContext = createContext<Surface | null>(null);

export function useSurfaceContext(): Surface {
  const surface = use(SurfaceContext);
  if (surface === null) throw new Error('This component must be inside a SurfaceContext');
  return surface;
}

const withState = (edited: ViewValues, blockId: string, actionId: string, state: Json) => ({
  ...edited,
  [blockId]: { ...edited[blockId], [actionId]: state },
});

/**
 * Keeps the entered values when the bot sends the blocks again, as Slack does. A value belongs to
 * a block_id and an action_id; a new block_id starts with the initial value of the bot.
 */
export function useSurface(place: Place, blocks: readonly Json[], errors = NO_ERRORS) {
  const { client, deliver } = useSession();
  const as = client.me.id;
  const [edited, setEdited] = useState<ViewValues>({});

  const change = useCallback((blockId: string, element: Json, state: Json) => {
    setEdited((before) => withState(before, blockId, stringOf(element.action_id), state));
  }, []);

  const surface = useMemo(() => {
    const stateOf = (blockId: string, element: Json) =>
      edited[blockId]?.[stringOf(element.action_id)] ?? initialInputState(element);
    const press = (blockId: string, element: Json, payload: Json) => {
      const actionId = stringOf(element.action_id);
      // The state in the payload of an action contains the new value of the pressed element.
      const isKnown = edited[blockId]?.[actionId] !== undefined || 'value' in payload;
      const current = isKnown ? edited : withState(edited, blockId, actionId, payload);
      const values = stateValues(blocks, current);
      return deliver('action', { as, place, blockId, actionId, element: payload, values });
    };
    return { place, errors, stateOf, change, press };
  }, [as, place, blocks, errors, edited, change, deliver]);

  const values = useCallback(() => stateValues(blocks, edited), [blocks, edited]);
  return { surface, values };
}
