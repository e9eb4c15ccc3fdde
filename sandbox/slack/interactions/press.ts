import { isJson, type Json, list, parseJson } from '../../json.ts';
import type { Delivery, Requests, Suggestions } from '../../protocol.ts';
import { elementAt } from '../block-elements.ts';
import { messageProblems } from '../block-kit/validate.ts';
import { deliveryOf, notSent } from '../delivery/delivery.ts';
import { isOfSlackbot } from '../slackbot.ts';
import { nextTs, type SlackState } from '../state.ts';
import { actingPerson, commonFields } from './actor.ts';
import { surfaceAt, surfacePayload } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

/** The fields of an element that Slack copies into the action. */
const copiedFields = ['text', 'value', 'url', 'style', 'confirm', 'placeholder'] as const;

/**
 * A person presses a button or selects an option. Slack delivers the action even when an update
 * has removed the element, because the person may still see the old message.
 */
export async function press(slack: SlackState, triggered: Requests['action']): Promise<Delivery> {
  const person = actingPerson(slack, triggered.as);
  const surface = surfaceAt(slack, person, triggered.place);
  if ('channel' in surface && isOfSlackbot(surface)) {
    await slack.slackbot?.decide(person, surface, triggered.actionId);
    return notSent;
  }
  const { blocks, fields } = surfacePayload(slack, person, triggered);
  const { blockId, actionId, element } = triggered;
  const stored = elementAt(blocks, blockId, actionId) ?? {};
  const copied = copiedFields.filter((key) => stored[key] !== undefined);
  const action: Json = {
    type: stored.type,
    ...Object.fromEntries(copied.map((key) => [key, stored[key]])),
    ...element,
    block_id: blockId,
    action_id: actionId,
    action_ts: nextTs(slack),
  };
  const response = await slack.deliverToApp('interactive', {
    type: 'block_actions',
    ...commonFields(slack, person),
    ...fields,
    trigger_id: issueTrigger(slack, person.id),
    actions: [action],
  });
  return deliveryOf(response);
}

/** A person types in an external select, whose options the app supplies. */
export async function suggest(
  slack: SlackState,
  requested: Requests['suggest'],
): Promise<Suggestions> {
  const person = actingPerson(slack, requested.as);
  const { response_url, state, ...fields } = surfacePayload(slack, person, requested).fields;
  const response = await slack.deliverToApp('interactive', {
    type: 'block_suggestion',
    ...commonFields(slack, person),
    ...fields,
    block_id: requested.blockId,
    action_id: requested.actionId,
    value: requested.value,
  });
  if (response.failure) return { options: [], error: response.failure };
  return readSuggestions(parseJson(response.body));
}

function readSuggestions(body: unknown): Suggestions {
  const { options, option_groups } = isJson(body) ? body : {};
  const invalid = { options: [], error: 'invalid_options' };
  if (options === undefined && option_groups === undefined) return invalid;
  if (Array.isArray(options) && options.length === 0) return { options: [], error: null };
  const select = { type: 'static_select', options, option_groups };
  if (messageProblems([{ type: 'actions', elements: [select] }]).length > 0) return invalid;
  const grouped = list(option_groups).flatMap((group) => list(group.options));
  return { options: [...list(options), ...grouped], error: null };
}
