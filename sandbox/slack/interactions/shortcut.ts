import type { Json } from '../../json.ts';
import type { Delivery, Requests } from '../../protocol.ts';
import { deliveryOf, refusedBySlack } from '../delivery/delivery.ts';
import { messageJson } from '../messages.ts';
import { nextTs, type SlackState } from '../state.ts';
import { isColleague, type Member } from '../workspace/workspace.ts';
import {
  actingPerson,
  commonFields,
  conversationRefJson,
  conversationWith,
  visibleMessage,
} from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person selects a shortcut in the shortcuts menu or in the menu of a message. */
export async function shortcut(slack: SlackState, used: Requests['shortcut']): Promise<Delivery> {
  const person = actingPerson(slack, used.as);
  const known = slack.manifest.shortcuts.find((one) => one.callback_id === used.callbackId);
  if (!known || !isColleague(slack.workspace, person)) {
    return refusedBySlack('There is no such shortcut.');
  }
  const response = await slack.deliverToApp('interactive', {
    ...commonFields(slack, person),
    callback_id: used.callbackId,
    trigger_id: issueTrigger(slack, person.id),
    action_ts: nextTs(slack),
    ...(known.type === 'global' ? { type: 'shortcut' } : messageFields(slack, person, used)),
  });
  return deliveryOf(response);
}

function messageFields(
  slack: SlackState,
  person: Member,
  { channel = '', ts = '' }: Requests['shortcut'],
): Json {
  const conversation = conversationWith(slack, person, channel);
  const message = visibleMessage(slack, person, { channel, ts });
  const target = { person: person.id, channel, threadTs: message.threadTs, message, typed: null };
  return {
    type: 'message_action',
    channel: conversationRefJson(conversation),
    message_ts: ts,
    message: messageJson(slack, message),
    response_url: issueResponseUrl(slack, target),
  };
}
