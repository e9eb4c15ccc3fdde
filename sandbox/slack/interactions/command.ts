import type { Delivery, Requests } from '../../protocol.ts';
import { deliveryOf, refusedBySlack } from '../delivery/delivery.ts';
import { addMessage } from '../messages.ts';
import type { SlackState } from '../state.ts';
import { escapeMrkdwn } from '../text-encoding.ts';
import { isColleague, payloadId, SLACKBOT, teamAt } from '../workspace/workspace.ts';
import { actingPerson, conversationName, conversationWith } from './actor.ts';
import { applyReply, replyInAcknowledgement } from './replies.ts';
import { issueResponseUrl } from './response-urls.ts';
import { issueTrigger } from './triggers.ts';

/** A person types a slash command in a channel and sends it. Slackbot shows an error to the person. */
export async function command(slack: SlackState, input: Requests['command']): Promise<Delivery> {
  const delivery = await deliver(slack, input);
  if (delivery.error !== null) {
    const text = escapeMrkdwn(delivery.error);
    const { as: ephemeralFor, channel } = input;
    addMessage(slack, { channel, author: SLACKBOT, text, ephemeralFor });
  }
  return delivery;
}

async function deliver(slack: SlackState, input: Requests['command']): Promise<Delivery> {
  const person = actingPerson(slack, input.as);
  const conversation = conversationWith(slack, person, input.channel);
  const line = input.text.trim();
  const [, name = '', text = ''] = line.match(/^(\/\S+)\s*([\s\S]*)$/) ?? [];
  const isKnown = slack.manifest.commands.some((one) => one.command === name);
  if (!isKnown || !isColleague(slack.workspace, person)) {
    return refusedBySlack(`${name || input.text} is not a valid command.`);
  }
  const typed = escapeMrkdwn(line);
  const channel = conversation.id;
  const target = { person: person.id, channel, threadTs: null, message: null, typed };
  const { domain, appId, enterpriseId, orgWide = false } = slack.workspace;
  const response = await slack.deliverToApp('slash_commands', {
    token: 'deprecated',
    team_id: teamAt(slack.workspace, conversation, person),
    team_domain: domain,
    ...(enterpriseId && { enterprise_id: enterpriseId, enterprise_name: 'Sandbox' }),
    channel_id: channel,
    channel_name: conversationName(conversation),
    user_id: payloadId(slack.workspace, person),
    user_name: person.name,
    command: name,
    text,
    api_app_id: appId,
    is_enterprise_install: String(orgWide),
    response_url: issueResponseUrl(slack, target),
    trigger_id: issueTrigger(slack, person.id),
  });
  const failed = (error: string) =>
    deliveryOf(response, `${name} failed with the error "${error}"`);
  if (response.failure) return failed(response.failure);
  const reply = replyInAcknowledgement(response.body);
  const isRefused = reply !== null && applyReply(slack, target, reply).ok !== true;
  return isRefused ? failed('invalid_command_response') : deliveryOf(response);
}
