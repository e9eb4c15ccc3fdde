import { type Json, record } from '../../json.ts';
import { messageProblems, refuseBlocks } from '../block-kit/validate.ts';
import type { SlackState } from '../state.ts';
import { workspacesOf } from '../workspace/workspace.ts';
import { method, page, refuse, type SlackReply, structure, text } from './method.ts';

function authTest(slack: SlackState): SlackReply {
  const { domain, name, teamId, botUserId, botId, enterpriseId, orgWide } = slack.workspace;
  return {
    ok: true,
    url: `https://${domain}.slack.com/`,
    team: name,
    user: 'signalbox',
    // An installation for an organization has no workspace of its own.
    team_id: orgWide ? enterpriseId : teamId,
    ...(enterpriseId && { enterprise_id: enterpriseId }),
    user_id: botUserId,
    bot_id: botId,
    is_enterprise_install: orgWide === true,
  };
}

function teamsList({ workspace }: SlackState, args: Json): SlackReply {
  const { items, response_metadata } = page(workspacesOf(workspace), args);
  return { ok: true, teams: items.map((id) => ({ id, name: id })), response_metadata };
}

function connectionsOpen(slack: SlackState): SlackReply {
  const ticket = slack.issueSocketTicket();
  if (ticket === null) return refuse('socket_mode_not_enabled');
  const url = `${slack.url.replace(/^http/, 'ws')}/link/?ticket=${ticket}`;
  return { ok: true, url: `${url}&app_id=${slack.workspace.appId}` };
}

function botsInfo(slack: SlackState, args: Json): SlackReply {
  const { botId, appId, botUserId, botName } = slack.workspace;
  if (text(args, 'bot') !== botId) return refuse('bot_not_found');
  const bot = { id: botId, app_id: appId, user_id: botUserId, name: botName, deleted: false };
  return { ok: true, bot: { ...bot, updated: 1_760_000_000, icons: {} } };
}

function validateBlocks(_: SlackState, args: Json): SlackReply {
  const problems = messageProblems(record(structure(args, 'message')).blocks);
  return problems.length > 0 ? refuseBlocks('invalid_message', problems) : { ok: true };
}

const appToken = { token: 'app', scopes: ['connections:write'] } as const;

export const appMethods = {
  'auth.test': method('special', authTest),
  'auth.teams.list': method('tier 2', teamsList),
  'apps.connections.open': method('tier 1', connectionsOpen, appToken),
  'blocks.validate': method('special', validateBlocks),
  'bots.info': method('tier 3', botsInfo, { scopes: ['users:read'], isInOneWorkspace: true }),
};
