import type { CommandInput, Delivery, Json } from '../../protocol.ts';
import { delivery, notAsked } from '../delivery/answer.ts';
import type { SlackState } from '../state.ts';
import { escaped, resolved } from '../text-encoding.ts';
import type { Conversation, Member } from '../workspace.ts';
import { actingPerson, conversationName, conversationWith, isOfThisWorkspace } from './actor.ts';
import { acknowledged, reply, type Source } from './replies.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person types a slash command into a channel and sends it. */
export async function command(slack: SlackState, typed: CommandInput): Promise<Delivery> {
  const person = actingPerson(slack, typed.as);
  const conversation = conversationWith(slack, person, typed.channel);
  const [, name = '', rest = ''] = typed.text.trim().match(/^(\/\S+)\s*([\s\S]*)$/) ?? [];
  const known = slack.manifest.commands.find((one) => one.command === name);
  if (!known || !isOfThisWorkspace(slack, person)) {
    return notAsked(`${name || typed.text} is not a valid command.`);
  }
  const source = {
    person: person.id,
    channel: conversation.id,
    threadTs: null,
    message: null,
    typed: escaped(typed.text.trim()),
  };
  const text = known.should_escape ? resolved(slack.workspace, rest) : rest;
  const payload = commandPayload(slack, { person, conversation, name, text, source });
  const answer = await slack.deliverToApp('slash_commands', payload);
  if (answer.failure) return delivery(answer, failed(name, answer.failure));
  const body = acknowledged(answer.body);
  const refused = body !== null && reply(slack, source, body).ok !== true;
  return delivery(answer, refused ? failed(name, 'invalid_command_response') : null);
}

function failed(name: string, error: string): string {
  return `${name} failed with the error "${error}"`;
}

interface Typed {
  readonly person: Member;
  readonly conversation: Conversation;
  readonly name: string;
  readonly text: string;
  readonly source: Source;
}

function commandPayload(
  slack: SlackState,
  { person, conversation, name, text, source }: Typed,
): Json {
  const { teamId, domain, appId } = slack.workspace;
  return {
    token: 'deprecated',
    team_id: teamId,
    team_domain: domain,
    channel_id: conversation.id,
    channel_name: conversationName(conversation),
    user_id: person.id,
    user_name: person.name,
    command: name,
    text,
    api_app_id: appId,
    is_enterprise_install: 'false',
    response_url: issueResponseUrl(slack, source),
    trigger_id: issueTrigger(slack, person.id),
  };
}
