import type { Conversation, Group, Member, Workspace } from './workspace.ts';

const TEAM = 'T0SIGNALBOX';
const BOT = 'U0SIGNALBOX';
const MEMBERS = 'ANA0 FINN BEN0 CLEO GUS0 DORA EMIL';

/** The workspace of the sandbox. */
export const sandboxWorkspace: Workspace = {
  teamId: TEAM,
  name: 'Signalbox Sandbox',
  domain: 'signalbox-sandbox',
  appId: 'A0SIGNALBOX',
  botId: 'B0SIGNALBOX',
  botUserId: BOT,
  botName: 'Signalbox',
  members: [
    person('U0ANA00001', 'ana', 'Ana', 'Operator'),
    person('U0FINN0001', 'finn', 'Finn', 'Operator'),
    person('U0BEN00001', 'ben', 'Ben', 'Approver'),
    person('U0CLEO0001', 'cleo', 'Cleo', 'Approver'),
    person('U0GUS00001', 'gus', 'Gus', 'Approver'),
    person('U0DORA0001', 'dora', 'Dora', 'Viewer'),
    person('U0EMIL0001', 'emil', 'Emil', 'No role'),
    { ...person('U0GINA0001', 'gina', 'Gina', 'Guest'), kind: 'guest' },
    {
      ...person('U0SVEN0001', 'sven', 'Sven', 'Another workspace'),
      ...{ kind: 'external', teamId: 'T0PARTNERS1' },
    },
    { ...person('U0HUGO0001', 'hugo', 'Hugo', 'Deactivated'), deleted: true },
    { ...person(BOT, 'signalbox', 'Signalbox', 'App'), kind: 'bot' },
  ],
  groups: [
    group('S0ENGINEERS', 'engineering', 'Engineering', 'ANA0 FINN BEN0 CLEO GUS0 DORA GINA'),
    group('S0OPERATORS', 'db-operators', 'Database operators', 'ANA0 FINN'),
    group('S0DBLEADS01', 'db-leads', 'Database leads', 'BEN0 CLEO GUS0 HUGO'),
  ],
  channels: [
    channel('C0GENERAL01', 'general', 'Everyone', `${MEMBERS} GINA`),
    channel('C0OPS000001', 'ops', 'Operations', `${MEMBERS} GINA`, BOT),
    channel('C0APPROVALS', 'db-approvals', 'Changes waiting for approval', `${MEMBERS} GINA`, BOT),
    channel('C0DBAUDIT01', 'db-audit', 'Results of all changes', MEMBERS, BOT),
    channel('C0DBCOSTS01', 'db-costs', 'Costs', MEMBERS, BOT),
    {
      ...channel('C0PARTNERS1', 'shared-partners', 'With another workspace', 'ANA0 BEN0 SVEN', BOT),
      kind: 'external',
    },
  ],
};

/** The same workspace on the free plan: Slack refuses every method of user groups. */
export const freePlanWorkspace: Workspace = { ...sandboxWorkspace, plan: 'free' };

/** The user ids for a list of short names: `ANA0` stands for `U0ANA00001`. */
function idsOf(names: string): string[] {
  return names.split(' ').map((name) => `U0${name}0001`);
}

function person(id: string, name: string, realName: string, title: string): Member {
  return { id, name, realName, title, kind: 'member', deleted: false, teamId: TEAM };
}

function group(id: string, handle: string, name: string, users: string): Group {
  return { id, handle, name, users: idsOf(users), disabled: false, updatedAt: 1_760_000_000 };
}

function channel(
  ...[id, name, topic, people, ...bots]: [string, string, string, string, ...string[]]
): Conversation {
  const members = [...idsOf(people), ...bots];
  return { id, name, kind: 'public', topic, members, archived: false };
}
