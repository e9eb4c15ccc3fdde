import type {
  ActionTriggered,
  Delivery,
  Json,
  OptionsRequested,
  Suggestions,
} from '../../protocol.ts';
import { elementAt } from '../block-elements.ts';
import { messageProblems } from '../block-kit/validate.ts';
import { delivery } from '../delivery/answer.ts';
import { isJson, jsonList, parsed } from '../json.ts';
import { type SlackState, stamp } from '../state.ts';
import { actingPerson, envelope } from './actor.ts';
import { surfacePayload } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

/** Those fields of an element that Slack repeats in the action. */
const repeated = ['text', 'value', 'url', 'style', 'confirm', 'placeholder', 'icon'] as const;

/**
 * A person presses or chooses something. It is delivered even when the message was redrawn
 * meanwhile and the element is gone, as happens to whoever looks at an old screen.
 */
export async function press(slack: SlackState, pressed: ActionTriggered): Promise<Delivery> {
  const person = actingPerson(slack, pressed.as);
  const scene = surfacePayload(slack, person, pressed);
  const stored = elementAt(scene.blocks, pressed.blockId, pressed.actionId);
  const answer = await slack.deliverToApp('interactive', {
    type: 'block_actions',
    ...envelope(slack, person),
    ...scene.fields,
    trigger_id: issueTrigger(slack, person.id, scene.modal?.id),
    actions: [action(slack, pressed, stored ?? {})],
  });
  return delivery(answer);
}

function action(slack: SlackState, pressed: ActionTriggered, stored: Json): Json {
  const kept = repeated.filter((key) => stored[key] !== undefined);
  return {
    type: stored.type,
    ...Object.fromEntries(kept.map((key) => [key, stored[key]])),
    ...pressed.element,
    block_id: pressed.blockId,
    action_id: pressed.actionId,
    action_ts: stamp(slack),
  };
}

/** A person types into a select whose options the app supplies. */
export async function suggest(slack: SlackState, searched: OptionsRequested): Promise<Suggestions> {
  const person = actingPerson(slack, searched.as);
  const { response_url, state, ...fields } = surfacePayload(slack, person, searched).fields;
  const answer = await slack.deliverToApp('interactive', {
    type: 'block_suggestion',
    ...envelope(slack, person),
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
