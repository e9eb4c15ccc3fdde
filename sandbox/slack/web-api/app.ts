import type { Json } from '../../protocol.ts';
import { messageProblems, type Problem, viewProblems } from '../block-kit/validate.ts';
import { jsonOr } from '../json.ts';
import type { SlackState } from '../state.ts';
import {
  type Methods,
  method,
  refuse,
  refuseBlocks,
  type SlackReply,
  structure,
  TIER,
} from './method.ts';

function authTest(slack: SlackState): SlackReply {
  const { domain, name, teamId, botUserId, botId } = slack.workspace;
  return {
    ok: true,
    url: `https://${domain}.slack.com/`,
    team: name,
    user: 'signalbox',
    team_id: teamId,
    user_id: botUserId,
    bot_id: botId,
    is_enterprise_install: false,
  };
}

function connectionsOpen(slack: SlackState): SlackReply {
  const ticket = slack.ticket();
  if (ticket === null) return refuse('socket_mode_not_enabled');
  const url = `${slack.url.replace(/^http/, 'ws')}/link/?ticket=${ticket}`;
  return { ok: true, url: `${url}&app_id=${slack.workspace.appId}` };
}

function teamInfo(slack: SlackState): SlackReply {
  const { teamId, name, domain } = slack.workspace;
  return { ok: true, team: { id: teamId, name, domain, email_domain: '' } };
}

/** Open to everyone, and strict about one thing at a time. */
function validate(_world: SlackState, args: Json): SlackReply {
  const kinds = ['blocks', 'view', 'message'].filter((key) => args[key] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) return refuse('invalid_arguments');
  const problems = problemsOf(kind, structure(args, kind));
  return problems.length === 0 ? { ok: true } : refuseBlocks(`invalid_${kind}`, problems);
}

function problemsOf(kind: string, value: unknown): Problem[] {
  if (kind === 'view') return viewProblems(value);
  return messageProblems(kind === 'message' ? (jsonOr(value).blocks ?? []) : value);
}

export const appMethods: Methods = {
  'auth.test': method(authTest, { perMinute: TIER.special }),
  'apps.connections.open': method(connectionsOpen, { token: 'app' }),
  'team.info': method(teamInfo, { scopes: ['team:read'] }),
  'blocks.validate': method(validate, { token: 'none' }),
};
