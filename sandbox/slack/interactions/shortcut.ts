import type { Delivery, Json, ShortcutUsed } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import { messageAt, messageJson, sees } from '../messages.ts';
import { stamp, type World } from '../state.ts';
import type { Member } from '../workspace.ts';
import {
  actingPerson,
  envelope,
  ImpossibleGesture,
  isOfThisWorkspace,
  roomJson,
  roomWith,
} from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person picks a shortcut, from the lightning menu or from a message's menu. */
export async function shortcut(world: World, used: ShortcutUsed): Promise<Delivery> {
  const person = actingPerson(world, used.as);
  const known = world.manifest.shortcuts.find((one) => one.callback_id === used.callbackId);
  if (!known || !isOfThisWorkspace(world, person)) return notAsked('There is no such shortcut.');
  const answer = await world.courier('interactive', {
    ...envelope(world, person),
    callback_id: used.callbackId,
    trigger_id: issueTrigger(world, person.id),
    action_ts: stamp(world),
    ...(known.type === 'global' ? { type: 'shortcut' } : onMessage(world, person, used)),
  });
  return delivery(answer);
}

function onMessage(world: World, person: Member, { channel = '', ts = '' }: ShortcutUsed): Json {
  const room = roomWith(world, person, channel);
  const message = messageAt(world, channel, ts);
  if (!message || !sees(world, person, message)) {
    throw new ImpossibleGesture(`${person.realName} sees no message ${ts} in ${channel}`);
  }
  const source = { person: person.id, channel, threadTs: message.threadTs, message, typed: null };
  return {
    type: 'message_action',
    channel: roomJson(room),
    message_ts: ts,
    message: messageJson(world, message),
    response_url: issueResponseUrl(world, source),
  };
}
