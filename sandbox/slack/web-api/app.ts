import type { Json } from '../../protocol.ts';
import { messageProblems, type Problem, viewProblems } from '../block-kit/validate.ts';
import { jsonOr } from '../json.ts';
import type { World } from '../state.ts';
import {
  type Methods,
  method,
  type Reply,
  refuse,
  refuseBlocks,
  structure,
  TIER,
} from './method.ts';

function authTest(world: World): Reply {
  const { domain, name, teamId, botUserId, botId } = world.workspace;
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

function connectionsOpen(world: World): Reply {
  const ticket = world.ticket();
  if (ticket === null) return refuse('socket_mode_not_enabled');
  const url = `${world.url.replace(/^http/, 'ws')}/link/?ticket=${ticket}`;
  return { ok: true, url: `${url}&app_id=${world.workspace.appId}` };
}

function teamInfo(world: World): Reply {
  const { teamId, name, domain } = world.workspace;
  return { ok: true, team: { id: teamId, name, domain, email_domain: '' } };
}

/** Open to everyone, and strict about one thing at a time. */
function validate(_world: World, args: Json): Reply {
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
