import type { Delivery, HomeOpening, MessageInput } from '../../protocol.ts';
import { deliveryOf, notSent, refusedBySlack } from '../delivery/delivery.ts';
import { sendEvent } from '../delivery/events.ts';
import { addMessage } from '../messages.ts';
import { nextTs, type SlackState } from '../state.ts';
import { encodeTypedText } from '../text-encoding.ts';
import { viewJson } from '../views.ts';
import { directConversation } from '../workspace.ts';
import { actingPerson, conversationWith, isOfThisWorkspace } from './actor.ts';

/** A person opens the app's Home tab. */
export async function openHome(slack: SlackState, { as }: HomeOpening): Promise<Delivery> {
  const person = actingPerson(slack, as);
  if (!slack.manifest.homeTab || !isOfThisWorkspace(slack, person)) {
    return refusedBySlack('The app has no Home tab here.');
  }
  const view = slack.homes.get(person.id);
  const response = await sendEvent(slack, {
    type: 'app_home_opened',
    user: person.id,
    channel: directConversation(slack.workspace, person.id).id,
    tab: 'home',
    event_ts: nextTs(slack),
    ...(view && { view: viewJson(slack, view) }),
  }).first;
  return response ? deliveryOf(response, null) : notSent;
}

/** A person sends a message. The app does not subscribe to messages, so it gets no event. */
export async function sendMessage(slack: SlackState, typed: MessageInput): Promise<Delivery> {
  const person = actingPerson(slack, typed.as);
  const conversation = conversationWith(slack, person, typed.channel);
  addMessage(slack, {
    channel: conversation.id,
    author: person.id,
    text: encodeTypedText(slack.workspace, typed.text),
    threadTs: typed.threadTs ?? null,
  });
  return notSent;
}
