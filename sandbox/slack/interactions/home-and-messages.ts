import type { Delivery, HomeOpening, MessageInput } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import { announce } from '../delivery/events.ts';
import { messageJson, post, type StoredMessage } from '../messages.ts';
import { type SlackState, stamp } from '../state.ts';
import { resolved } from '../text-encoding.ts';
import { viewJson } from '../views.ts';
import { type Conversation, directConversation, isIn } from '../workspace.ts';
import { actingPerson, conversationWith, isOfThisWorkspace } from './actor.ts';

const unheard: Delivery = { status: 200, ms: 0, body: '', error: null };

/** A person opens the app's home tab. */
export async function openHome(slack: SlackState, { as }: HomeOpening): Promise<Delivery> {
  const person = actingPerson(slack, as);
  if (!slack.manifest.homeTab || !isOfThisWorkspace(slack, person)) {
    return notAsked('The app has no home tab here.');
  }
  const view = slack.homes.get(person.id);
  const answer = await announce(slack, {
    type: 'app_home_opened',
    user: person.id,
    channel: directConversation(slack.workspace, person.id).id,
    tab: 'home',
    event_ts: stamp(slack),
    ...(view && { view: viewJson(slack, view) }),
  }).first;
  return answer ? delivery(answer, null) : unheard;
}

/** A person writes a message; the app hears of it only where it is and if it listens. */
export async function sendMessage(slack: SlackState, typed: MessageInput): Promise<Delivery> {
  const person = actingPerson(slack, typed.as);
  const conversation = conversationWith(slack, person, typed.channel);
  const message = post(slack, {
    channel: conversation.id,
    author: person.id,
    text: resolved(slack.workspace, typed.text),
    threadTs: typed.threadTs ?? null,
  });
  if (!isIn(conversation, slack.workspace.botUserId)) return unheard;
  const answers = await Promise.all(heard(slack, conversation, message));
  const answer = answers.find((one) => one !== null);
  return answer ? delivery(answer, null) : unheard;
}

function heard(slack: SlackState, conversation: Conversation, message: StoredMessage) {
  const event = {
    ...messageJson(slack, message),
    type: 'message',
    channel: conversation.id,
    event_ts: message.ts,
  };
  const kind = { public: 'channel', external: 'channel', private: 'group', dm: 'im' }[
    conversation.kind
  ];
  const subscription = kind === 'im' ? 'message.im' : `message.${kind}s`;
  const sent = [announce(slack, { ...event, channel_type: kind }, subscription).first];
  if (message.text.includes(`<@${slack.workspace.botUserId}>`)) {
    sent.push(announce(slack, { ...event, type: 'app_mention' }).first);
  }
  return sent;
}
