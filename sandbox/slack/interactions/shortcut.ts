import type { Delivery, Json, ShortcutUsed } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import { messageAt, messageJson, sees } from '../messages.ts';
import { type SlackState, stamp } from '../state.ts';
import type { Member } from '../workspace.ts';
import {
  actingPerson,
  conversationRefJson,
  conversationWith,
  envelope,
  ImpossibleInteraction,
  isOfThisWorkspace,
} from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person picks a shortcut, from the lightning menu or from a message's menu. */
export async function shortcut(slack: SlackState, used: ShortcutUsed): Promise<Delivery> {
  const person = actingPerson(slack, used.as);
  const known = slack.manifest.shortcuts.find((one) => one.callback_id === used.callbackId);
  if (!known || !isOfThisWorkspace(slack, person)) return notAsked('There is no such shortcut.');
  const answer = await slack.deliverToApp('interactive', {
    ...envelope(slack, person),
    callback_id: used.callbackId,
    trigger_id: issueTrigger(slack, person.id),
    action_ts: stamp(slack),
    ...(known.type === 'global' ? { type: 'shortcut' } : onMessage(slack, person, used)),
  });
  return delivery(answer);
}

function onMessage(
  slack: SlackState,
  person: Member,
  { channel = '', ts = '' }: ShortcutUsed,
): Json {
  const conversation = conversationWith(slack, person, channel);
  const message = messageAt(slack, channel, ts);
  if (!message || !sees(slack, person, message)) {
    throw new ImpossibleInteraction(`${person.realName} sees no message ${ts} in ${channel}`);
  }
  const source = { person: person.id, channel, threadTs: message.threadTs, message, typed: null };
  return {
    type: 'message_action',
    channel: conversationRefJson(conversation),
    message_ts: ts,
    message: messageJson(slack, message),
    response_url: issueResponseUrl(slack, source),
  };
}
