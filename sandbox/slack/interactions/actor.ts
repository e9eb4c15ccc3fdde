import type { Json } from '../../protocol.ts';
import type { SlackState } from '../state.ts';
import { type Conversation, conversationOf, isIn, type Member, memberOf } from '../workspace.ts';

/** Nobody could do this in Slack: the person, or what they would touch, is not there for them. */
export class ImpossibleInteraction extends Error {
  override readonly name = 'ImpossibleGesture';
}

export function actingPerson(slack: SlackState, id: string): Member {
  const person = memberOf(slack.workspace, id);
  if (!person) throw new ImpossibleInteraction(`there is no person ${id}`);
  if (person.deleted) throw new ImpossibleInteraction(`${person.realName} is deactivated`);
  if (person.kind === 'bot') throw new ImpossibleInteraction('apps do not type or press');
  return person;
}

export function conversationWith(slack: SlackState, person: Member, channel: string): Conversation {
  const conversation = conversationOf(slack.workspace, channel);
  if (conversation && isIn(conversation, person.id)) return conversation;
  throw new ImpossibleInteraction(`${person.realName} is not in ${channel}`);
}

/** Slash commands and shortcuts are not shared with people of other workspaces. */
export function isOfThisWorkspace(slack: SlackState, person: Member): boolean {
  return person.teamId === slack.workspace.teamId;
}

/** The fields that all interactive payloads begin with. */
export function envelope(slack: SlackState, person: Member): Json {
  const { teamId, domain, appId } = slack.workspace;
  return {
    token: 'deprecated',
    team: { id: teamId, domain },
    user: {
      id: person.id,
      username: person.name,
      name: person.name,
      team_id: person.teamId,
    },
    api_app_id: appId,
    is_enterprise_install: false,
    enterprise: null,
  };
}

export function conversationRefJson(conversation: Conversation): Json {
  return { id: conversation.id, name: conversationName(conversation) };
}

export function conversationName(conversation: Conversation): string {
  if (conversation.kind === 'dm') return 'directmessage';
  return conversation.kind === 'private' ? 'privategroup' : conversation.name;
}
