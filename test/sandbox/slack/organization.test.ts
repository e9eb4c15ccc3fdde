import { expect, test } from 'vitest';
import {
  organizationWorkspace,
  SISTER,
  UNLISTED,
} from '../../../sandbox/slack/workspace/organization.ts';
import { actions, button } from './block-samples.ts';
import { ana, approvals, ben, startSlack } from './bolt-app.ts';
import { clientOf, listener, outcome, posted } from './client.ts';

async function started() {
  const slack = await startSlack({ workspace: organizationWorkspace });
  return { slack, received: await listener(slack), client: clientOf(slack) };
}

const LISTS = ['conversations.list', 'users.list', 'usergroups.list'] as const;

test.for([...LISTS, 'usergroups.users.list', 'bots.info'] as const)(
  '%s needs the workspace, and the app in it',
  async (method) => {
    const { client } = await started();
    const about = { usergroup: 'S0DBLEADS01', bot: organizationWorkspace.botId };
    const call = (more: object) => outcome(client.apiCall(method, { ...about, ...more }));
    expect(await call({})).toBe('missing_argument');
    expect(await call({ team_id: 'T0FOREIGN01' })).toBe('team_access_not_granted');
    expect(await call({ team_id: SISTER })).toBe('ok');
  },
);

test('each workspace has its own groups and people; a shared channel is in both', async () => {
  const { client } = await started();
  const [own, sister] = await Promise.all(
    [organizationWorkspace.teamId, SISTER].map(async (team_id) => {
      const { channels = [] } = await client.conversations.list({ team_id });
      const { usergroups = [] } = await client.usergroups.list({ team_id });
      const { members = [] } = await client.users.list({ team_id });
      return {
        channels: channels.map(({ name }) => name),
        groups: usergroups.map(({ handle }) => handle),
        isBenListed: members.some(({ id }) => id === ben),
      };
    }),
  );
  expect(own?.groups).toEqual(['engineering', 'db-operators']);
  expect(sister).toEqual({
    channels: ['db-approvals', 'db-audit', 'ops'],
    groups: ['db-leads'],
    isBenListed: true,
  });
  expect(own?.channels).toContain('db-approvals');
  expect(own?.isBenListed).toBe(false);
});

test('the token is of the organization, which names the workspaces with the app', async () => {
  const { client } = await started();
  expect(await client.auth.test()).toMatchObject({
    ...{ team_id: 'E0SANDBOX01', enterprise_id: 'E0SANDBOX01', is_enterprise_install: true },
  });
  const { teams = [] } = await client.auth.teams.list();
  expect(teams.map(({ id }) => id)).toEqual([organizationWorkspace.teamId, SISTER, UNLISTED]);
});

test('payloads name people by the id of the organization, and presses no workspace', async () => {
  const { slack, received, client } = await started();
  await slack.command(ana, 'ops', '/service stop');
  expect(received.at(-1)).toMatchObject({
    ...{ user_id: 'W0ANA00001', team_id: 'T0SIGNALBOX', is_enterprise_install: 'true' },
  });
  const blocks = [actions(button({ action_id: 'approve' }))];
  const ts = await posted(client, { channel: approvals, text: 'x', blocks });
  await slack.click(ben, { in: 'message', channel: approvals, ts }, 'approve');
  expect(received.at(-1)).toMatchObject({
    team: null,
    enterprise: { id: 'E0SANDBOX01' },
    is_enterprise_install: true,
    user: { id: 'W0BEN00001', team_id: SISTER },
  });
  await slack.openHome({ as: ben });
  expect(received.at(-1)).toMatchObject({
    team_id: SISTER,
    authorizations: [{ team_id: null, is_enterprise_install: true }],
    event: { type: 'app_home_opened', user: 'W0BEN00001' },
  });
});

test('a message needs the id of its channel, and reaches a person by either id', async () => {
  const { client } = await started();
  const post = (channel: string) => outcome(client.chat.postMessage({ channel, text: 'x' }));
  expect(await post('#db-approvals')).toBe('channel_not_found');
  for (const id of [approvals, ben, 'W0BEN00001']) expect(await post(id)).toBe('ok');
});
