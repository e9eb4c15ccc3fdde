import type { Conversation, Group, Member, Workspace } from './workspace.ts';

const TEAM = 'T0SIGNALBOX';
const BOT = 'U0SIGNALBOX';

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
      kind: 'external',
      teamId: 'T0PARTNERS1',
    },
    { ...person('U0HUGO0001', 'hugo', 'Hugo', 'Deactivated'), deleted: true },
    { ...person(BOT, 'signalbox', 'Signalbox', 'App'), kind: 'bot' },
  ],
  groups: [
    group('S0ENGINEERS', 'engineering', 'Engineering', [
      'U0ANA00001',
      'U0FINN0001',
      'U0BEN00001',
      'U0CLEO0001',
      'U0GUS00001',
      'U0DORA0001',
      'U0GINA0001',
    ]),
    group('S0OPERATORS', 'db-operators', 'Database operators', ['U0ANA00001', 'U0FINN0001']),
    group('S0DBLEADS01', 'db-leads', 'Database leads', [
      'U0BEN00001',
      'U0CLEO0001',
      'U0GUS00001',
      'U0HUGO0001',
    ]),
  ],
  channels: [
    channel('C0GENERAL01', 'general', 'Everyone', [...colleagues(), 'U0GINA0001']),
    channel('C0OPS000001', 'ops', 'Running things', [...colleagues(), 'U0GINA0001', BOT]),
    channel('C0APPROVALS', 'db-approvals', 'Changes that wait for a decision', [
      ...colleagues(),
      'U0GINA0001',
      BOT,
    ]),
    channel('C0DBAUDIT01', 'db-audit', 'Every ending', [...colleagues(), BOT]),
    channel('C0DBCOSTS01', 'db-costs', 'What it costs', [...colleagues(), BOT]),
    {
      ...channel('C0PARTNERS1', 'shared-partners', 'With another workspace', [
        'U0ANA00001',
        'U0BEN00001',
        'U0SVEN0001',
        BOT,
      ]),
      kind: 'external',
    },
  ],
};

function colleagues(): string[] {
  return ['ANA0', 'FINN', 'BEN0', 'CLEO', 'GUS0', 'DORA', 'EMIL'].map((name) => `U0${name}0001`);
}

function person(id: string, name: string, realName: string, title: string): Member {
  return { id, name, realName, title, kind: 'member', deleted: false, teamId: TEAM };
}

function group(id: string, handle: string, name: string, users: string[]): Group {
  return { id, handle, name, users, disabled: false, updatedAt: 1_760_000_000 };
}

function channel(id: string, name: string, topic: string, members: string[]): Conversation {
  return { id, name, kind: 'public', topic, members, archived: false };
}
