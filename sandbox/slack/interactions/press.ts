import type { Delivery, Json, Pressed, Searched, Suggestions } from '../../protocol.ts';
import { elementAt } from '../block-elements.ts';
import { messageProblems } from '../block-kit/validate.ts';
import { delivery } from '../delivery/answer.ts';
import { isJson, jsonList, parsed } from '../json.ts';
import { stamp, type World } from '../state.ts';
import { actingPerson, envelope } from './actor.ts';
import { sceneOf } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

/** Those fields of an element that Slack repeats in the action. */
const repeated = ['text', 'value', 'url', 'style', 'confirm', 'placeholder', 'icon'] as const;

/**
 * A person presses or chooses something. It is delivered even when the message was redrawn
 * meanwhile and the element is gone, as happens to whoever looks at an old screen.
 */
export async function press(world: World, pressed: Pressed): Promise<Delivery> {
  const person = actingPerson(world, pressed.as);
  const scene = sceneOf(world, person, pressed);
  const stored = elementAt(scene.blocks, pressed.blockId, pressed.actionId);
  const answer = await world.courier('interactive', {
    type: 'block_actions',
    ...envelope(world, person),
    ...scene.fields,
    trigger_id: issueTrigger(world, person.id, scene.modal?.id),
    actions: [action(world, pressed, stored ?? {})],
  });
  return delivery(answer);
}

function action(world: World, pressed: Pressed, stored: Json): Json {
  const kept = repeated.filter((key) => stored[key] !== undefined);
  return {
    type: stored.type,
    ...Object.fromEntries(kept.map((key) => [key, stored[key]])),
    ...pressed.element,
    block_id: pressed.blockId,
    action_id: pressed.actionId,
    action_ts: stamp(world),
  };
}

/** A person types into a select whose options the app supplies. */
export async function suggest(world: World, searched: Searched): Promise<Suggestions> {
  const person = actingPerson(world, searched.as);
  const { response_url, state, ...fields } = sceneOf(world, person, searched).fields;
  const answer = await world.courier('interactive', {
    type: 'block_suggestion',
    ...envelope(world, person),
    ...fields,
    block_id: searched.blockId,
    action_id: searched.actionId,
    value: searched.value,
  });
  if (answer.failure) return { options: [], error: answer.failure };
  return suggestions(parsed(answer.body));
}

function suggestions(body: unknown): Suggestions {
  const { options, option_groups } = isJson(body) ? body : {};
  if (options === undefined && option_groups === undefined) {
    return { options: [], error: 'invalid_options' };
  }
  if (Array.isArray(options) && options.length === 0) return { options: [], error: null };
  const select = { type: 'static_select', options, option_groups };
  const refused = messageProblems([{ type: 'actions', elements: [select] }]).length > 0;
  if (refused) return { options: [], error: 'invalid_options' };
  const grouped = jsonList(option_groups).flatMap((group) => jsonList(group.options));
  return { options: [...jsonList(options), ...grouped], error: null };
}
