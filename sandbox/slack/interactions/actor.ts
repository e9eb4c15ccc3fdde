import type { Json } from '../../json.ts';
import { isVisibleTo, messageAt } from '../messages.ts';
import type { StoredMessage } from '../records.ts';
import type { SlackState } from '../state.ts';
import {
  type Conversation,
  conversationOf,
  isIn,
  type Member,
  memberOf,
  payloadId,
} from '../workspace/workspace.ts';

/** An interaction that Slack does not offer: the person, the place or the element is missing. */
export class ImpossibleInteraction extends Error {
  override readonly name = 'ImpossibleInteraction';
}

export function actingPerson(slack: SlackState, id: string): Member {
  const person = memberOf(slack.workspace, id);
  if (!person) throw new ImpossibleInteraction(`there is no person ${id}`);
  if (person.deleted) throw new ImpossibleInteraction(`${person.realName} is deactivated`);
  if (person.kind === 'bot') throw new ImpossibleInteraction('an app cannot act as a person');
  return person;
}

export function conversationWith(slack: SlackState, person: Member, channel: string): Conversation {
  const conversation = conversationOf(slack.workspace, channel);
  if (conversation && isIn(conversation, person.id)) return conversation;
  throw new ImpossibleInteraction(`${person.realName} is not in ${channel}`);
}

export function visibleMessage(
  slack: SlackState,
  person: Member,
  { channel, ts }: { readonly channel: string; readonly ts: string },
): StoredMessage {
  const message = messageAt(slack, channel, ts);
  if (message && isVisibleTo(slack, person, message)) return message;
  throw new ImpossibleInteraction(`${person.realName} sees no message ${ts} in ${channel}`);
}

/** The fields with which all interactive payloads begin. */
export function commonFields(slack: SlackState, person: Member): Json {
  const { teamId, domain, appId, enterpriseId, orgWide = false } = slack.workspace;
  const { name } = person;
  const id = payloadId(slack.workspace, person);
  const organization = enterpriseId && { enterprise_id: enterpriseId, enterprise_name: 'Sandbox' };
  return {
    token: 'deprecated',
    team: orgWide ? null : { id: teamId, domain, ...organization },
    // The workspace where this person is at home, also if it is another one of the organization.
    user: { id, username: name, name, team_id: person.teamId },
    api_app_id: appId,
    is_enterprise_install: orgWide,
    enterprise: enterpriseId ? { id: enterpriseId, name: 'Sandbox' } : null,
  };
}

export function conversationRefJson(conversation: Conversation): Json {
  return { id: conversation.id, name: conversationName(conversation) };
}

export function conversationName(conversation: Conversation): string {
  if (conversation.kind === 'dm') return 'directmessage';
  return conversation.kind === 'private' ? 'privategroup' : conversation.name;
}
