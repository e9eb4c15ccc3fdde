import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { formatProblems, loadConfig } from '../../src/ops/config.ts';
import { EXAMPLE, edited, load, said } from './fixtures.ts';

test('the example file is accepted unchanged', () => {
  const loaded = load();
  expect(loaded.ok ? [] : loaded.problems).toEqual([]);
  expect(loaded.ok && loaded.config).toMatchObject({
    organizations: [{ name: null, plan: 'paid', tier: 'scale' }],
    services: [
      { name: 'analytics-prod', aliases: ['prod'], warehouse: 'main', pipes: [{ name: 'orders' }] },
      { name: 'staging', aliases: [], pipes: [] },
    ],
    channels: { approvals: '#db-approvals', audit: '#db-audit' },
    policy: {
      rules: [
        { requires: { rule: 1, from: null } },
        { requires: { rule: 2, count: 2, self: false, breakGlass: 'approver' } },
        { requires: { rule: 3, count: 1, self: false } },
        { requires: { rule: 4, from: null } },
        { requires: { rule: 5, from: null } },
        { requires: { rule: 6, from: null } },
      ],
      never: [{ commands: ['service stop'], reason: 'The shop reads from it day and night' }],
      freezes: [{ reason: 'year end', from: new Date('2026-12-24T00:00:00Z'), by: 'Gus' }],
    },
    digests: [
      { at: '09:00', period: 'day', days: ['mon', 'tue', 'wed', 'thu', 'fri'], quiet: false },
      { at: '09:30', period: 'week', days: ['mon'], quiet: false },
    ],
    budgets: [{ name: 'production', credits: 12_000, thresholds: [50, 80, 100] }],
    access: { openToTheWorld: false, privateAddresses: false },
  });
});

test('all problems of variables and file are reported at once', () => {
  const yaml = edited(
    ['plan: paid', 'plan: gold'],
    ['{ from: approver, count: 2 }', '{ from: aprover, count: 0 }'],
    ['budgets:', 'budgetz:'],
  );
  const loaded = load({ SLACK_BOT_TOKEN: undefined, PORT: 'x' }, { './signalbox.yaml': yaml });
  expect(formatProblems(loaded.ok ? [] : loaded.problems)).toMatchInlineSnapshot(`
    "Signalbox did not start: 6 problems.

      SLACK_BOT_TOKEN            is not set
                                 → the bot token, xoxb-…, from the page “OAuth & Permissions”
      PORT                       must be a port number
      organization.plan          cannot be “gold”
                                 → one of: paid, free
      policy[1].approvals.from   names no role: “aprover”
                                 → did you mean “approver”?
      policy[1].approvals.count  must be at least 1
      budgetz                    is not a known key
                                 → did you mean “budgets”?

    Nothing was sent or changed. Fix these problems and start Signalbox again.
    "
  `);
});

test('a single problem is counted as one, and a long path has its own line', () => {
  const where = 'services[10].pipes[12].something.very.far.away';
  const text = formatProblems([{ where, problem: 'is not a known key', hint: null }]);
  expect(text).toContain('1 problem.');
  expect(text.split('\n')[2]?.trim()).toBe(where);
  expect(text.split('\n')[3]?.trim()).toBe('is not a known key');
});

const PIPE = '{ name: orders, id: 9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6d }';

test('pipes of two services may share a name, but never an id', () => {
  const elsewhere = (pipe: string) =>
    edited(['    warehouse: lab', `    warehouse: lab\n    pipes: [${pipe}]`]);
  expect(said({}, elsewhere(PIPE.replace('9a3b', '9a3c')))).toEqual([]);
  expect(said({}, elsewhere(PIPE))).toEqual([
    'services[1].pipes[0].id: repeats “9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6d” (already used at services[0].pipes[0].id)',
  ]);
});

const last = "  - { channel: '#db-alerts' }\n";

test('alerts have a channel for those that no selection covers', () => {
  expect(said({}, edited([last, '']))).toEqual([
    "alerts: must end with a channel for all other alerts ({ channel: '#db-alerts' })",
  ]);
  const loaded = load({}, { './signalbox.yaml': EXAMPLE });
  expect(loaded.ok && loaded.config.alertChannels.map(({ channel }) => channel)).toEqual([
    ...['#search', '#db-alerts'],
  ]);
});

test('the secret of the alert webhook is long, and needs a channel', () => {
  const secret = 'x'.repeat(32);
  expect(said({ ALERTS_WEBHOOK_SECRET: 'short' }).join()).toContain('must be 32 to 128 letters');
  expect(said({ ALERTS_WEBHOOK_SECRET: secret })).toEqual([]);
  const routes = `alerts:\n  - { channel: '#search', on: { teams: [search] } }\n${last}`;
  const without = edited([routes, 'alerts: []\n']);
  expect(said({ ALERTS_WEBHOOK_SECRET: secret }, without).join()).toContain(
    'names no channel for alerts',
  );
});

test('two budgets with one name are refused', () => {
  const twin = "budgets:\n  - { name: Production, monthlyCredits: 1, notify: '#x' }";
  const yaml = edited(['budgets:', twin]);
  expect(said({}, yaml)).toEqual([
    'budgets[1].name: repeats “production” (already used at budgets[0].name)',
  ]);
});

test('thresholds are unique and ascending, and days have the order of the week', () => {
  const yaml = edited(['[50, 80, 100]', '[100, 50, 100]'], ['days: weekdays', 'days: [fri, mon]']);
  const loaded = load({}, { './signalbox.yaml': yaml });
  expect(loaded.ok && loaded.config.budgets[0]?.thresholds).toEqual([50, 100]);
  expect(loaded.ok && loaded.config.digests[0]?.days).toEqual(['mon', 'fri']);
});

test.for<[string, string, number, readonly string[]]>([
  ['days: [mon]', 'days: thu', 1, ['thu']],
  ['days: weekdays', 'days: daily', 0, ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']],
])('in place of %s a digest may have %s', ([from, to, at, days]) => {
  const loaded = load({}, { './signalbox.yaml': edited([from, to]) });
  expect(loaded.ok && loaded.config.digests[at]?.days).toEqual(days);
});

test('services open to the internet need access.openToTheWorld', () => {
  const yaml = edited(['openToTheWorld: refused', 'openToTheWorld: allowed']);
  const loaded = load({}, { './signalbox.yaml': yaml });
  expect(loaded.ok && loaded.config.access).toMatchObject({ openToTheWorld: true });
});

test('read rules and rules with their own channel need no common channel', () => {
  const yaml = edited(
    ["  approvals: '#db-approvals'", '  # none'],
    ['count: 2 }', "count: 2 }\n    channel: '#db-prod'"],
    ['count: 1, self: refused }', "count: 1, self: refused }\n    channel: '#db-all'"],
  );
  expect(said({}, yaml)).toEqual([]);
});

test('a discovered service with a configured name gets no permissions of the file', () => {
  const yaml = edited(['{ tags: [prod] } ', '{ services: [staging] } ']);
  const loaded = load({}, { './signalbox.yaml': yaml });
  expect(loaded.ok && loaded.config.policy.rules[1]?.on?.services).toEqual([
    { name: 'staging', id: '1525c708-e4bc-426d-a9e7-d11b6c27caf5' },
  ]);
});

type Node = Record<string, unknown> | unknown[];

/** Every set of keys in the file, but the roles: their names are free. */
function keySets(node: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof node !== 'object' || node === null) return [];
  const own = Array.isArray(node) || path.join() === 'roles' ? [] : [[...path]];
  const inner = Object.entries(node).flatMap(([key, value]) => keySets(value, [...path, key]));
  return [...own, ...inner];
}

test('an unknown key is refused at any depth', () => {
  const places = keySets(parse(EXAMPLE));
  expect(places.length).toBeGreaterThan(20);
  const foreign = fc.oneof(
    fc.string().map((rest) => `x${rest}`),
    fc.string({ minLength: 1 }).filter((key) => !/^[a-z]+$/i.test(key)),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'Policy', 'ALLOW', '<<'),
  );
  const keys = fc.sample(fc.tuple(foreign, fc.jsonValue()), places.length);
  for (const [at, [key, value]] of keys.entries()) {
    // Parsed anew, so that no case leaves its key to the next.
    const file: Node = parse(EXAMPLE);
    const set = places[at]?.reduce((node: Node, step) => Reflect.get(node, step), file) ?? file;
    Object.defineProperty(set, key, { value, enumerable: true });
    expect(said({}, stringify(file)).join('\n'), places[at]?.join('.')).toContain(
      'is not a known key',
    );
  }
});

test('a read error is not taken for an empty file', () => {
  const readFile = () => {
    throw new Error('the disk is gone');
  };
  const loaded = loadConfig({ env: {}, readFile, commands: { queries: [], changes: [] } });
  expect(loaded.ok ? [] : loaded.problems).toContainEqual({
    where: 'SIGNALBOX_CONFIG',
    problem: './signalbox.yaml cannot be read (unknown error)',
    hint: 'correct SIGNALBOX_CONFIG, or give the user of Signalbox read permission',
  });
});

const LISTED = 'slack: { workspaces: [T0123ABCD, T0456EFGH] }\n\nchannels:';
/** The example, with each channel by its id. */
const byId = (yaml: string) => yaml.replaceAll(/'#[a-z-]+'/g, 'C0123ABCD');

test('in an organization a channel is named by its workspace or its id', () => {
  const yaml = edited(['channels:', LISTED]);
  expect(said({}, yaml)[0]).toBe(
    'channels.approvals: #db-approvals is in no workspace of slack.workspaces (write T0123ABCD/#db-approvals, or the id of the channel)',
  );
  expect(said({}, byId(yaml))).toEqual([]);
  const other = (channel: string) =>
    byId(yaml).replace('approvals: C0123ABCD', `approvals: '${channel}'`);
  expect(said({}, other('T0456EFGH/#db-approvals'))).toEqual([]);
  expect(said({}, other('T0789IJKL/#db-approvals'))).toHaveLength(1);
  // Without the list, the workspace is that of the token.
  expect(said({}, edited(["'#db-approvals'", "'T0456EFGH/#db-approvals'"]))[0]).toContain(
    'is in no workspace of slack.workspaces (write #db-approvals, or the id',
  );
});

test.for(['[]', '[T0123ABCD, T0123ABCD]', '[E0123ABCD]', "['#db']"])(
  'a list of workspaces cannot be %s',
  (list) => {
    const yaml = byId(edited(['channels:', `slack: { workspaces: ${list} }\n\nchannels:`]));
    expect(said({}, yaml)[0]).toContain(
      'must be workspace ids, each once (for example [T0123ABCD])',
    );
  },
);

test('a group may be named by its workspace', () => {
  expect(said({}, edited(["'@db-leads'", "'T0456EFGH/@db-leads'"]))).toEqual([]);
});
