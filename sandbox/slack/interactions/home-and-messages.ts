import type { Delivery, Requests } from '../../protocol.ts';
import { deliveryOf, notSent, refusedBySlack } from '../delivery/delivery.ts';
import { type EventDelivery, sendEvent } from '../delivery/events.ts';
import { addMessage, messageJson, sendDirectMessageEvent } from '../messages.ts';
import type { StoredMessage } from '../records.ts';
import { nextTs, type SlackState } from '../state.ts';
import { encodeTypedText } from '../text-encoding.ts';
import { viewJson } from '../views.ts';
import {
  conversationOf,
  directConversation,
  isColleague,
  isIn,
  SLACKBOT_CHANNEL,
} from '../workspace/workspace.ts';
import { actingPerson, conversationWith } from './actor.ts';

/** A person opens the app's Home tab. */
export async function openHome(slack: SlackState, { as }: Requests['home']): Promise<Delivery> {
  const person = actingPerson(slack, as);
  if (!slack.manifest.homeTab || !isColleague(slack.workspace, person)) {
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

const READ_ONLY = 'Sending messages to this app has been turned off.';

/** A person sends a message. The app hears of it in its own conversation, and where it is named. */
export async function sendMessage(
  slack: SlackState,
  typed: Requests['message'],
): Promise<Delivery> {
  const person = actingPerson(slack, typed.as);
  const conversation = conversationWith(slack, person, typed.channel);
  if (conversation.id === SLACKBOT_CHANNEL) {
    const { id: channel } = conversation;
    const own = { channel, author: person.id, ephemeralFor: person.id };
    addMessage(slack, { ...own, text: encodeTypedText(slack.workspace, typed.text) });
    await slack.slackbot?.hear(person, typed.text);
    return notSent;
  }
  const isDirect = conversation.kind === 'dm';
  if (isDirect && slack.manifest.messagesReadOnly) return refusedBySlack(READ_ONLY);
  const message = addMessage(slack, {
    channel: conversation.id,
    author: person.id,
    text: encodeTypedText(slack.workspace, typed.text),
    threadTs: typed.threadTs ?? null,
  });
  // Slack sends no mention for a direct message, which has an event of its own.
  const sent = isDirect ? sendDirectMessageEvent(slack, message) : sendMention(slack, message);
  const response = await sent?.first;
  return response ? deliveryOf(response, null) : notSent;
}

function sendMention(slack: SlackState, message: StoredMessage): EventDelivery | null {
  const { botUserId } = slack.workspace;
  const conversation = conversationOf(slack.workspace, message.channel);
  if (!conversation || !isIn(conversation, botUserId)) return null;
  if (!message.text.includes(`<@${botUserId}>`)) return null;
  if (!slack.manifest.scopes.includes('app_mentions:read')) return null;
  const { channel, ts } = message;
  const fields = { ...messageJson(slack, message), channel, event_ts: ts };
  return sendEvent(slack, { ...fields, type: 'app_mention' });
}
