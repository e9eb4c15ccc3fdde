import type { Json } from '../../json.ts';
import type { SlackState } from '../state.ts';
import {
  enterpriseOf,
  type Group,
  groupOf,
  isColleague,
  type Member,
  memberOf,
  sharesConversation,
  timezoneOf,
} from '../workspace/workspace.ts';
import {
  flag,
  type Method,
  method,
  PAGE_LIMIT,
  page,
  refuse,
  type SlackReply,
  text,
} from './method.ts';

export function userJson(slack: SlackState, member: Member): Json {
  const isExternal = member.kind === 'external';
  const enterpriseId = enterpriseOf(slack.workspace, member);
  return {
    id: member.id,
    team_id: member.teamId,
    name: member.name,
    real_name: member.realName,
    deleted: member.deleted,
    ...{ is_admin: false, is_owner: false, is_primary_owner: false },
    is_restricted: member.kind === 'guest',
    is_ultra_restricted: false,
    is_bot: member.kind === 'bot',
    ...{ is_app_user: false, is_workflow_bot: false, is_email_confirmed: true },
    // Slack sets is_stranger only while no channel is shared with the app.
    ...(isExternal && { is_stranger: !sharesConversation(slack.workspace, member.id) }),
    ...(enterpriseId && {
      enterprise_user: {
        id: member.enterpriseUserId ?? member.id,
        enterprise_id: enterpriseId,
        teams: [member.teamId],
      },
    }),
    tz: timezoneOf(member),
    tz_label: 'Central European Time',
    tz_offset: 3600,
    updated: 1_760_000_000,
    profile: {
      real_name: member.realName,
      display_name: member.realName,
      title: member.title,
      team: member.teamId,
    },
  };
}

/** A user group in the shape of Slack's API. */
export function groupJson(slack: SlackState, group: Group, withUsers: boolean): Json {
  return {
    id: group.id,
    team_id: group.teamId ?? slack.workspace.teamId,
    is_usergroup: true,
    name: group.name,
    handle: group.handle,
    description: '',
    is_external: false,
    date_create: 1_750_000_000,
    date_update: group.updatedAt,
    date_delete: group.disabled ? group.updatedAt : 0,
    auto_type: null,
    user_count: group.users.length,
    ...(withUsers && { users: group.users }),
  };
}

function usersInfo(slack: SlackState, args: Json): SlackReply {
  const member = memberOf(slack.workspace, text(args, 'user') ?? '');
  return member ? { ok: true, user: userJson(slack, member) } : refuse('user_not_found');
}

function usersList(slack: SlackState, args: Json): SlackReply {
  const { orgWide, teamId: own } = slack.workspace;
  const teamId = orgWide ? text(args, 'team_id') : own;
  // The list lacks colleagues of other workspaces of the organization.
  const members = slack.workspace.members.filter(
    (one) => one.teamId === teamId || !isColleague(slack.workspace, one),
  );
  // Without a limit Slack tries to return everyone.
  if (args.limit === undefined && members.length >= PAGE_LIMIT) return refuse('limit_required');
  const { items, response_metadata } = page(members, { limit: PAGE_LIMIT - 1, ...args });
  return { ok: true, members: items.map((one) => userJson(slack, one)), response_metadata };
}

/** A method of user groups, which exist on paid plans only. */
function onPaidPlan(run: Method['run']): Method {
  const onPlan: Method['run'] = (slack, args) =>
    slack.workspace.plan === 'free' ? refuse('plan_upgrade_required') : run(slack, args);
  return method('tier 2', onPlan, { scopes: ['usergroups:read'], isInOneWorkspace: true });
}

function groupsList(slack: SlackState, args: Json): SlackReply {
  const { teamId, orgWide } = slack.workspace;
  const wanted = orgWide ? text(args, 'team_id') : teamId;
  const all = slack.workspace.groups.filter(
    (group) =>
      (group.teamId ?? teamId) === wanted && (!group.disabled || flag(args, 'include_disabled')),
  );
  const usergroups = all.map((group) => groupJson(slack, group, flag(args, 'include_users')));
  return { ok: true, usergroups };
}

function groupUsers(slack: SlackState, args: Json): SlackReply {
  const id = text(args, 'usergroup') ?? '';
  const group = /^S/.test(id) ? groupOf(slack.workspace, id) : undefined;
  if (!group) return refuse('no_such_subteam');
  if (group.disabled && !flag(args, 'include_disabled')) return refuse('no_such_subteam');
  return { ok: true, users: [...group.users] };
}

const users = { scopes: ['users:read'] };

export const userMethods = {
  'users.info': method('tier 4', usersInfo, users),
  'users.list': method('tier 2', usersList, { ...users, isInOneWorkspace: true }),
  'usergroups.list': onPaidPlan(groupsList),
  'usergroups.users.list': onPaidPlan(groupUsers),
};
