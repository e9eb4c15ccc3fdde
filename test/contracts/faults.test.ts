import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_CHOICES } from '../../sandbox/faults/injector.ts';
import {
  type FaultActionName,
  type FaultBot,
  type FaultOutcome,
  openFaultBot,
} from './fault-bot.ts';
import { until } from './typing-user.ts';

let bot: FaultBot;
beforeAll(async () => {
  bot = await openFaultBot();
});
afterAll(() => bot.close());

/** The effect of a fault: the answer to a read, the outcome of a write, and whether it took effect. */
interface Expected {
  /** `again`: a second request succeeded. A pattern matches the text of the error. */
  readonly read: 'shown' | 'again' | RegExp;
  readonly write: 'accepted' | 'no details' | 'unknown' | 'refused' | 'later';
  readonly effects: 0 | 1;
}

const FINE: Expected = { read: 'shown', write: 'accepted', effects: 1 };
const BARE: Expected = { read: /Request failed/, write: 'no details', effects: 1 };
const LOST: Expected = { read: 'again', write: 'unknown', effects: 0 };
const LATE: Expected = {
  read: /Request failed\nThe server did not answer in time/,
  write: 'unknown',
  effects: 1,
};
/** What a proxy in between answers. */
const FOREIGN: Expected = { read: 'again', write: 'unknown', effects: 1 };
const PORTAL =
  /^Request failed\nThe answer was not of the API, but for example the page of a proxy/;
const WAIT: Expected = { read: 'again', write: 'later', effects: 0 };

const EXPECTED: Readonly<Record<string, Expected>> = {
  'delay-2s': FINE,
  'delay-20s': FINE,
  'delay-45s': LATE,
  'late-effect-45s': LATE,
  hang: { ...LATE, effects: 0 },
  'hang-after-effect': LATE,
  reset: LOST,
  'reset-after-effect': { ...LOST, effects: 1 },
  'close-after-effect': { ...LOST, effects: 1 },
  'cut-body': { ...BARE, read: 'again' },
  'truncated-json': BARE,
  'wrong-content-type': FINE,
  bom: FINE,
  gzip: FINE,
  'html-200': { ...FOREIGN, read: PORTAL },
  'cut-html': FOREIGN,
  'proxy-json': { ...FOREIGN, read: PORTAL },
  'error-200': { read: /Request failed/, write: 'unknown', effects: 0 },
  'empty-200': BARE,
  '201': FINE,
  '307': { read: /Request failed/, write: 'unknown', effects: 0 },
  '401': { read: /401.*Signalbox administrator/s, write: 'refused', effects: 0 },
  '403': { read: /403.*Signalbox administrator/s, write: 'refused', effects: 0 },
  '404-html': { read: /Check the configuration/, write: 'refused', effects: 0 },
  '408': { read: /408 REQUEST_TIMEOUT|408 Request timeout/, write: 'unknown', effects: 0 },
  '429': WAIT,
  '429-x-ratelimit-reset': WAIT,
  '429-ratelimit-reset': WAIT,
  '429-retry-after': WAIT,
  '429-retry-after-date': WAIT,
  // A minute is longer than the time limit of a read.
  '429-html': { ...WAIT, read: /429.*Try again in a minute/s },
  '500': LOST,
  '502': LOST,
  '503': LOST,
  '504': LOST,
  '500-after-effect': { ...LOST, effects: 1 },
  '502-after-effect': { ...LOST, effects: 1 },
  '504-after-effect': { ...LOST, effects: 1 },
  'empty-object': BARE,
  'null-result': BARE,
  'unknown-enum': FINE,
  'missing-field': FINE,
  'extra-field': FINE,
  'number-as-string': FINE,
};

/** Faults that do not apply to every operation have separate tests below. */
const SPECIAL = [
  'nulls',
  'null-in-list',
  'stale-state',
  'no-state',
  'reply-differs',
  'wrong-object',
];
const ALL = Object.entries(EXPECTED);
/** One fault of each ending. */
const ONE_OF_EACH = [
  ...new Map(
    ALL.toReversed().map((each) => {
      const [, { read, write, effects }] = each;
      return [`${read === 'again'} ${write} ${effects}`, each];
    }),
  ).values(),
];
/** What ends a call before its reply is read is the same for every write: a stop has all of these faults. */
const NO_REPLY = /^(delay|late|hang|reset|close|429|50\d)/;
const OF_REPLIES = ALL.filter((each) => ONE_OF_EACH.includes(each) || !NO_REPLY.test(each[0]));

test('every fault of the simulators has an expected behaviour', () => {
  const known = [...Object.keys(EXPECTED), ...SPECIAL];
  const faults = FAULT_CHOICES.map(({ name }) => name).filter(
    (name) => !/^(costs|read)-/.test(name),
  );
  expect(known.toSorted()).toEqual(faults.toSorted());
});

const SHOWN: Readonly<Partial<Record<FaultActionName, RegExp>>> = {
  backup: /^Backup of analytics-prod/,
  alert: /^(5xx rate|Alert 357f)/,
};

describe.for(['backup', 'alert'] as const)('a query of the %s', (action) => {
  test.for(ALL)('during %s', async ([fault, { read }]) => {
    const { deliveries, lines } = await bot.runWithFault(action, fault);
    const expected = longWait(action, fault) ?? read;
    const shown = SHOWN[action] ?? /nothing/;
    expect(lines.join('\n')).toMatch(typeof expected === 'string' ? shown : expected);
    expect(deliveries).toBe(expected === 'again' ? 2 : 1);
    expect(lines.join('\n')).not.toMatch(/<html|<pre|Time-out/i);
  });
});

// The default wait of the alerts API after a 429 without a time is longer than the limit of a call.
function longWait(action: FaultActionName, fault: string): RegExp | null {
  const isUnnamed = ['429', '429-retry-after-date'].includes(fault);
  return action === 'alert' && isUnnamed ? /429.*Try again in a minute/s : null;
}

test.for(['503', 'reset', '504'])('a read fails after three attempts with %s', async (fault) => {
  const { deliveries, lines } = await bot.runWithFault('pipe', fault, 9);
  expect(deliveries).toBe(3);
  expect(lines[0]).toBe('Request failed');
});

test('a read fails after two attempts with 500', async () => {
  const { deliveries, lines } = await bot.runWithFault('pipe', '500', 9);
  expect(deliveries).toBe(2);
  expect(lines.join('\n')).toContain('500 INTERNAL_SERVER_ERROR: Please retry later');
});

/** The titles of accepted changes; the last one if no more is known. */
const ACCEPTED = /^[●◐] .*( is \w+ing| is being created| was edited|: accepted)$/;

/** The pattern of a card's title, and of the text below it. */
const ENDINGS: Readonly<Record<Expected['write'], readonly [RegExp, RegExp]>> = {
  accepted: [ACCEPTED, /The server reports: /],
  'no details': [/^● .*: accepted$/, /The server reports: no details\./],
  unknown: [/^\? .*: outcome unknown$/, /Not sent again\./],
  refused: [/^✕ .*: rejected by the server$/, /Nothing was changed\./],
  later: [/^○ .*: approved$/, /Nothing was sent yet\. Next attempt: /],
};

async function expectEnding(outcome: FaultOutcome, write: Expected['write']): Promise<void> {
  const { lines, deliveries } = outcome;
  const [title, words] = ENDINGS[write];
  const text = lines.join('\n');
  expect(lines[0]).toMatch(title);
  expect(text).toMatch(words);
  expect(text).not.toMatch(/<html|<pre|Time-out/i);
  // The buttons have the answers that a person may give.
  const claims = text.replaceAll(/\[It was (not )?\w+\]/g, '');
  expect(claims).not.toMatch(/\b(is|was|has been) (stopped|created|started)\b/);
  expect(deliveries).toBe(1);
  if (write === 'later') await expectSecondAttempt(outcome);
}

// The request that was not sent is sent once, after all checks are repeated.
async function expectSecondAttempt({ now, effectsNow }: FaultOutcome): Promise<void> {
  bot.time.pass(121_000);
  bot.wake();
  await until(() => (ACCEPTED.test(now()[0] ?? '') ? true : null), 'the second try');
  expect(effectsNow()).toBe(1);
}

describe.for([
  ['stop', ALL],
  ['create', OF_REPLIES],
  ['endpoint', OF_REPLIES.filter(([, { write }]) => write !== 'accepted')],
] as const)('a confirmed %s', ([action, faults]) => {
  test.for(faults)('during %s', async ([fault, { write, effects }]) => {
    const outcome = await bot.runWithFault(action, fault);
    await expectEnding(outcome, write);
    expect(outcome.effects).toBe(effects);
  });
});

describe('a confirmed alert edit', () => {
  test.for(OF_REPLIES)('during %s', async ([fault, { write, effects }]) => {
    const outcome = await bot.runWithFault('edit', fault);
    // An alert can be read, which verifies an applied edit.
    const isVerified = write === 'unknown' && effects === 1;
    await expectEnding(outcome, isVerified ? 'accepted' : write);
    if (isVerified)
      expect(outcome.lines.join('\n')).toContain('read again: all values are as requested');
    expect(outcome.effects).toBe(effects);
  });
});

test('an unknown outcome keeps its target locked and is not sent again', async () => {
  const lost = await bot.runWithFault('scale', 'close-after-effect');
  await expectEnding(lost, 'unknown');
  const before = bot.cloud.count('scale');
  const preview = await bot.type(`/service stop box-${lost.n}`);
  expect(bot.linesIn(preview).join('\n')).toMatch(
    new RegExp(`requested “scale box-${lost.n}” .*: outcome unknown`),
  );
  bot.time.pass(600_000);
  bot.wake();
  await bot.run('/service list');
  expect(bot.cloud.count('scale')).toBe(before);
});

test('null between the alerts of the list leaves the others in it', async () => {
  bot.time.pass(61_000);
  const total = bot.alerts.alerts().length;
  bot.alerts.injectFault({ operation: 'list alerts', fault: 'null-in-list', times: 1 });
  const lines = await bot.run('/alert list page=2');
  expect(lines[0]).toMatch(`of ${total - 1} alerts firing · page 2 of 2`);
  expect(lines.join('\n')).toContain(`Only ${total - 1} of ${total} alerts were read.`);
});

test.for<[FaultActionName, string, string]>([
  ['stop', 'stale-state', 'The server reports: running.'],
  ['stop', 'no-state', 'The server reports: no details.'],
  ['stop', 'nulls', 'The server reports: no details.'],
  ['stop', 'unknown-enum', 'The server reports: brand-new.'],
  ['scale', 'stale-state', '⚠ Maximum memory per replica (GB) is 32, not 64 as sent'],
  ['scale', 'reply-differs', '⚠ Minimum memory per replica (GB) is 20, not 16 as sent'],
  [
    'scale',
    'number-as-string',
    'running, all values are saved as requested, not applied yet: Minimum memory per replica (GB) is 8, Max',
  ],
  ['scale', 'nulls', 'The server reports: no details.'],
  ['endpoint', 'nulls', 'The server reports: id '],
  ['endpoint', 'unknown-enum', 'status brand-new'],
  ['endpoint', 'reply-differs', '⚠ description is feed (changed), not feed as sent'],
  ['create', 'reply-differs', ' (changed), not new '],
  ['create', 'no-state', 'The server reports: id '],
  ['create', 'nulls', 'The server reports: id '],
  ['edit', 'reply-differs', '⚠ Threshold is 4325, not 4321 as sent'],
  ['edit', 'missing-field', '⚠ Threshold: the reply does not show it (sent: 4321)'],
  ['edit', 'no-state', 'The server reports: no details.'],
  ['edit', 'wrong-object', 'read again: all values are as requested'],
])('%s with the reply %s shows “%s”', async ([action, fault, words]) => {
  const { lines, deliveries, effects } = await bot.runWithFault(action, fault);
  expect(lines[0]).toMatch(ACCEPTED);
  expect(lines.join('\n')).toContain(words);
  expect([deliveries, effects]).toEqual([1, 1]);
});

test.for<[FaultActionName, string, string]>([
  ['stop', 'wrong-object', '200 The answer of the server is about another object.'],
  ['scale', 'wrong-object', '200 The answer of the server is about another object.'],
  ['stop', 'error-200', '200 BAD_REQUEST: The request was not accepted'],
  ['edit', 'error-200', '200 Not accepted'],
])(
  '%s with the contradicting reply %s is unknown and shows “%s”',
  async ([action, fault, words]) => {
    const outcome = await bot.runWithFault(action, fault);
    await expectEnding(outcome, 'unknown');
    expect(outcome.lines.join('\n')).toContain(words);
  },
);
