import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import type { JsonObject } from '../../src/intent/answers/units.ts';
import { insertFreeze, liftFreeze } from '../../src/storage/tables/freezes.ts';
import { PLAN } from '../changes/fixtures.ts';
import { EXAMPLE, edited } from '../config/fixtures.ts';
import { newId } from '../storage/example-change.ts';
import {
  ANA,
  HOUR_MS,
  hoursAgo,
  openRecorded,
  ROLES,
  STAGING,
  STAGING_ID,
  STRICTER,
} from './recorded-requests.ts';

const twoHours = { from: hoursAgo(25).toISOString(), until: hoursAgo(23).toISOString() };
const FROZEN = edited([
  'freezes:',
  `freezes:\n  - { from: '${twoHours.from}', until: '${twoHours.until}', reason: audit }`,
]);

test.for<[string, string, Partial<Change>, readonly string[]]>([
  ['a freeze', FROZEN, {}, ['denied: frozen (until ', ': audit) (rule 3)', 'allowed → denied']],
  [
    'a never rule',
    edited(['on: { services: [analytics-prod] }', 'on: { services: [staging] }']),
    {},
    ['denied: never (The shop reads from it day and night) (rule 3)'],
  ],
  [
    'another role',
    edited(["alert edit']\n    to: operator", "alert edit']\n    to: approver"]),
    {},
    ['denied: not-a-requester (only approver may request it) (rule 3)'],
  ],
  [
    'no rule',
    edited(["'service *', 'endpoint *'", "service start, 'endpoint *'"]),
    {},
    ['denied: no-rule (no rule)'],
  ],
  [
    'a required reason',
    edited(['count: 1, self: refused }', 'count: 1, self: refused }\n    reason: required']),
    { reason: null },
    ['denied: reason-required (rule 3)'],
  ],
  [
    "the requester's own approval",
    edited(['self: refused', 'self: allowed']),
    {},
    ["the requester's own approval: does not count → counts"],
  ],
  [
    'another expiry',
    edited(['count: 1, self: refused }', 'count: 1, self: refused }\n    expires: 90m']),
    {},
    ['expires after: 1d → 90m'],
  ],
  [
    'an escalation',
    edited(['count: 1, self: refused', 'count: 1, escalate: { to: operator, after: 2h }']),
    {},
    ['escalation: none → operator after 2h'],
  ],
  [
    'break-glass',
    edited([
      'count: 1, self: refused }',
      'count: 1, self: refused }\n    breakGlass: { to: operator }',
    ]),
    {},
    ['break-glass: no one → operator'],
  ],
  [
    'other tags of the file',
    edited(['tags: [staging]', 'tags: [prod]']),
    {},
    [
      'now:      2 approvals from approver (rule 2)',
      'with the tags of the file: prod (warehouse lab)',
    ],
  ],
  [
    'a service that the file does not list',
    edited([STAGING_ID, '1525c708-e4bc-426d-a9e7-d11b6c27caf6']),
    {},
    ['denied: no-rule', 'with the tags of the file: unknown, because the file does not list it'],
  ],
  [
    'a stricter rule for the revert',
    edited(["'service *', 'endpoint *'", "service stop, 'endpoint *'"]),
    {
      plan: {
        ...PLAN,
        target: STAGING,
        timing: {
          startAt: null,
          revert: {
            afterMs: HOUR_MS,
            label: 'Start it again',
            line: `service start ${STAGING_ID}`,
          },
        },
      },
    },
    ['denied: no-rule (service start, the revert'],
  ],
  [
    'other approvers of the revert',
    edited([
      "  - allow: ['service *'",
      "  - { allow: [service start], to: operator, approvals: { from: viewer } }\n  - allow: ['service *'",
    ]),
    {
      plan: {
        ...PLAN,
        target: STAGING,
        timing: {
          startAt: null,
          revert: {
            afterMs: HOUR_MS,
            label: 'Start it again',
            line: `service start ${STAGING_ID}`,
          },
        },
      },
    },
    ['denied: other-approvers (rule 3 has other approvers for service start, the revert) (rule 4)'],
  ],
  [
    'a freeze at the scheduled start',
    FROZEN,
    {
      createdAt: hoursAgo(48),
      plan: {
        ...PLAN,
        target: STAGING,
        timing: { startAt: hoursAgo(24).toISOString(), revert: null },
      },
    },
    ['denied: frozen'],
  ],
])('a request is decided otherwise because of %s', async ([, yaml, fields, sentences]) => {
  const recorded = await openRecorded();
  await recorded.draft(fields);
  expect((await recorded.replay(EXAMPLE)).out).toContain('0 otherwise');
  const { out, code } = await recorded.replay(yaml);
  expect(code).toBe(1);
  for (const sentence of sentences) expect(out).toContain(sentence);
});

test('another number of the rule and another channel are no difference', async () => {
  const recorded = await openRecorded();
  await recorded.draft();
  const yaml = edited(
    [
      'policy:\n',
      'policy:\n  - { allow: [cost forecast], to: viewer }\n'.replace(
        'cost forecast',
        'alert list',
      ),
    ],
    ['count: 1, self: refused }', "count: 1, self: refused }\n    channel: '#elsewhere'"],
  );
  expect((await recorded.replay(yaml)).code).toBe(0);
});

test('a freeze of Slack counts for the requests of its time only', async () => {
  const recorded = await openRecorded();
  const body = { refusal: 'frozen', roles: [...ROLES] };
  await recorded.refuse(body, hoursAgo(30));
  await recorded.refuse(body, hoursAgo(20));
  await recorded.refuse(body, hoursAgo(10));
  const id = newId();
  await recorded.database.transaction(async (tx) => {
    const times = { from: hoursAgo(25), until: hoursAgo(-5) };
    await insertFreeze(tx, {
      id,
      scope: { tag: 'staging' },
      reason: 'x',
      createdBy: ANA,
      ...times,
    });
    await liftFreeze(tx, { id, by: ANA, at: hoursAgo(15) });
  });
  const { out } = await recorded.replay(EXAMPLE);
  expect(out.match(/^✗ event-\d/gm)).toEqual(['✗ event-1', '✗ event-3']);
  expect(out).toContain('3 change requests');
});

test('the roles that were not recorded are assumed from the recorded rule', async () => {
  const recorded = await openRecorded();
  await recorded.draft({}, null);
  expect((await recorded.replay(EXAMPLE)).code).toBe(0);
  const { out } = await recorded.replay(STRICTER);
  expect(out).toContain('    assumed:  roles: only operator, by the recorded rule\n');
});

test('a role that lists users only is decided by the file', async () => {
  const recorded = await openRecorded();
  await recorded.draft();
  const withOperator = (id: string) =>
    edited(["operator: { groups: ['@db-operators'] }", `operator: { users: [${id}] }`]);
  expect((await recorded.replay(withOperator('U0ANA0001'))).code).toBe(0);
  const { out, code } = await recorded.replay(withOperator('U0BEN0001'));
  expect(code).toBe(1);
  expect(out).toContain('denied: not-a-requester');
});

test('a refused request that the file allows is listed with what was assumed', async () => {
  const recorded = await openRecorded();
  await recorded.refuse({ refusal: 'never', target: 'analytics-prod', rule: 2 });
  const yaml = edited(['on: { services: [analytics-prod] }', 'on: { services: [staging] }']);
  expect((await recorded.replay(EXAMPLE)).code).toBe(0);
  const { out, code } = await recorded.replay(yaml);
  expect(code).toBe(1);
  expect(out.split('\n').slice(1, 7)).toEqual([
    '    recorded: denied: never (rule 2)',
    '    now:      2 approvals from approver, break-glass for approver (rule 2)',
    '    why:      denied → allowed',
    '    assumed:  roles: admitted, as then',
    '    assumed:  tags and warehouse: those of the file',
    '    assumed:  reason: long enough',
  ]);
});

test.for<[string, JsonObject]>([
  [
    'a missing reason',
    {
      refusal: 'reason-required',
      command: 'service scale',
      tried: 'service scale',
      target: 'analytics-prod',
      rule: 2,
    },
  ],
  ['an unlisted service', { refusal: 'no-rule', target: 'somewhere', rule: 2, roles: [...ROLES] }],
  [
    'an alert',
    { refusal: 'not-a-requester', command: 'alert edit', tried: 'alert edit', target: '5xx' },
  ],
  [
    'a freeze of everything',
    {
      refusal: 'not-a-requester',
      command: 'change freeze',
      tried: 'change freeze',
      target: 'everything',
      rule: 5,
    },
  ],
  [
    'a freeze of a tag',
    {
      refusal: 'not-a-requester',
      command: 'change freeze',
      tried: 'change freeze',
      target: 'everything tagged prod',
      rule: 5,
    },
  ],
])('the same file refuses a request again: %s', async ([, body]) => {
  const recorded = await openRecorded();
  await recorded.refuse(body);
  const { out, code } = await recorded.replay(EXAMPLE);
  expect(out).toContain('1 change request since');
  expect(code).toBe(0);
});

test('queries, clicks, failed lookups and older requests are not replayed', async () => {
  const recorded = await openRecorded();
  await recorded.refuse({
    refusal: 'not-a-requester',
    command: 'service list',
    tried: 'service list',
    target: null,
  });
  await recorded.refuse({
    refusal: 'not-a-requester',
    command: 'service show',
    tried: 'service show',
  });
  await recorded.refuse({ refusal: 'lookup-failed' });
  await recorded.refuse({ refusal: 'never', tried: 'confirm' }, hoursAgo(24), newId());
  await recorded.refuse({ refusal: 'not-a-requester', command: null, tried: 'approve' });
  await recorded.draft({}, ROLES, hoursAgo(49));
  const { out, code } = await recorded.replay(STRICTER, '--since', '2d');
  expect(out).toContain('0 change requests since');
  expect(code).toBe(0);
});

test('a change that cannot be read is a difference', async () => {
  const recorded = await openRecorded();
  const id = await recorded.draft();
  await recorded.database.transaction((tx) =>
    tx.updateTable('change').set({ plan: '{"x":1}' }).execute(),
  );
  const { out, code } = await recorded.replay(EXAMPLE);
  expect(code).toBe(1);
  expect(out).toMatch(new RegExp(`^✗ ${id} `, 'm'));
  expect(out).toContain('not decided: the stored change is missing or unreadable');
  expect((await recorded.replay(EXAMPLE, '--accept', id)).code).toBe(0);
});

const FREEZE_RULES = edited([
  'policy:\n',
  `policy:
  - { allow: [change freeze], on: { tags: [prod] }, to: approver, approvals: { from: approver, count: 3 } }
  - { allow: [change freeze], on: { warehouses: [lab] }, to: approver, approvals: { from: approver, count: 4 } }
`,
]);

test.for<[string, string]>([
  ['everything tagged prod', 'now:      3 approvals from approver (rule 1)'],
  ['everything in warehouse main', 'now:      3 approvals from approver (rule 1)'],
  ['analytics-prod', 'now:      3 approvals from approver (rule 1)'],
  ['everything tagged staging', 'now:      4 approvals from approver (rule 2)'],
  ['everything in warehouse lab', 'now:      4 approvals from approver (rule 2)'],
  ['staging', 'now:      4 approvals from approver (rule 2)'],
  ['everything', 'now:      denied: no-rule (rule 1 needs tags or a warehouse that are unknown)'],
])('the refused freeze of “%s” is decided by its scope', async ([target, sentence]) => {
  const recorded = await openRecorded();
  const command = 'change freeze';
  const roles = ['approver'];
  await recorded.refuse({ refusal: 'not-a-requester', command, tried: command, target, roles });
  expect((await recorded.replay(FREEZE_RULES)).out).toContain(sentence);
});

test.for<[string, JsonObject, readonly string[]]>([
  [
    'of an alert',
    { command: 'alert edit', tried: 'alert edit', target: '5xx', roles: ['operator'] },
    ['alert edit on 5xx', 'now:      1 approval from approver (rule 3)'],
  ],
  [
    'of release 1.0 without a rule',
    { refusal: 'no-rule', rule: null },
    [
      'recorded: denied: no-rule (no rule)',
      'now:      denied: not-a-requester',
      'why:      refusal: no-rule → not-a-requester',
      'roles: only those that the file lists by user id',
    ],
  ],
  [
    'of a service that the file does not list',
    { target: 'elsewhere', roles: ['operator'] },
    ['tags and warehouse: those of the file, which does not list it'],
  ],
  [
    'without a reason',
    { refusal: 'reason-required', roles: ['operator'] },
    ['now:      1 approval from approver (rule 3)', 'assumed:  reason: none'],
  ],
])('a refused request %s is decided with what is known', async ([, body, sentences]) => {
  const recorded = await openRecorded();
  await recorded.refuse({ refusal: 'not-a-requester', ...body });
  const { out, code } = await recorded.replay(EXAMPLE);
  expect(code).toBe(1);
  for (const sentence of sentences) expect(out).toContain(sentence);
  expect(out.includes('roles: ')).toBe(!('roles' in body));
});
