import type { Delivery, HomeOpened, MessageTyped } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import { announce } from '../delivery/events.ts';
import { messageJson, post, type StoredMessage } from '../messages.ts';
import { stamp, type World } from '../state.ts';
import { resolved } from '../text-encoding.ts';
import { viewJson } from '../views.ts';
import { directRoom, isIn, type Room } from '../workspace.ts';
import { actingPerson, isOfThisWorkspace, roomWith } from './actor.ts';

const unheard: Delivery = { status: 200, ms: 0, body: '', error: null };

/** A person opens the app's home tab. */
export async function openHome(world: World, { as }: HomeOpened): Promise<Delivery> {
  const person = actingPerson(world, as);
  if (!world.manifest.homeTab || !isOfThisWorkspace(world, person)) {
    return notAsked('The app has no home tab here.');
  }
  const view = world.homes.get(person.id);
  const answer = await announce(world, {
    type: 'app_home_opened',
    user: person.id,
    channel: directRoom(world.workspace, person.id).id,
    tab: 'home',
    event_ts: stamp(world),
    ...(view && { view: viewJson(world, view) }),
  }).first;
  return answer ? delivery(answer, null) : unheard;
}

/** A person writes a message; the app hears of it only where it is and if it listens. */
export async function say(world: World, typed: MessageTyped): Promise<Delivery> {
  const person = actingPerson(world, typed.as);
  const room = roomWith(world, person, typed.channel);
  const message = post(world, {
    channel: room.id,
    author: person.id,
    text: resolved(world.workspace, typed.text),
    threadTs: typed.threadTs ?? null,
  });
  if (!isIn(room, world.workspace.botUserId)) return unheard;
  const answers = await Promise.all(heard(world, room, message));
  const answer = answers.find((one) => one !== null);
  return answer ? delivery(answer, null) : unheard;
}

function heard(world: World, room: Room, message: StoredMessage) {
  const event = {
    ...messageJson(world, message),
    type: 'message',
    channel: room.id,
    event_ts: message.ts,
  };
  const kind = { public: 'channel', external: 'channel', private: 'group', dm: 'im' }[room.kind];
  const subscription = kind === 'im' ? 'message.im' : `message.${kind}s`;
  const sent = [announce(world, { ...event, channel_type: kind }, subscription).first];
  if (message.text.includes(`<@${world.workspace.botUserId}>`)) {
    sent.push(announce(world, { ...event, type: 'app_mention' }).first);
  }
  return sent;
}
