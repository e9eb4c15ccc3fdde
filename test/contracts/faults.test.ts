import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_CHOICES } from '../../sandbox/faults/injector.ts';
import { until } from './counter.ts';
import { type Deed, type FaultBooth, type Outcome, openFaultBooth } from './fault-booth.ts';

let booth: FaultBooth;
beforeAll(async () => {
  booth = await openFaultBooth();
});
afterAll(() => booth.close());

/** What a fault means: what a read brings, how a write ends, and whether it took effect. */
interface Expected {
  /** `again`: a second request brought it. Else the words of the “no”. */
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
  'html-200': BARE,
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
  // A minute is longer than anybody may wait for a read.
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

/** Those that cannot befall every operation have tests of their own below. */
const SPECIAL = ['nulls', 'stale-state', 'no-state', 'reply-differs', 'wrong-object'];
const ALL = Object.entries(EXPECTED);

test('every fault of the simulators has an expected behaviour', () => {
  const known = [...Object.keys(EXPECTED), ...SPECIAL];
  const faults = FAULT_CHOICES.map(({ name }) => name).filter((name) => !name.startsWith('costs-'));
  expect(known.toSorted()).toEqual(faults.toSorted());
});

const SHOWN: Readonly<Partial<Record<Deed, RegExp>>> = {
  backup: /^Backup of analytics-prod/,
  alert: /^(5xx rate|Alert 357f)/,
};

describe.for(['backup', 'alert'] as const)('a person looks at the %s', (deed) => {
  test.for(ALL)('during %s', async ([fault, { read }]) => {
    const { deliveries, lines } = await booth.under(deed, fault);
    const expected = longWait(deed, fault) ?? read;
    const shown = SHOWN[deed] ?? /nothing/;
    expect(lines.join('\n')).toMatch(typeof expected === 'string' ? shown : expected);
    expect(deliveries).toBe(expected === 'again' ? 2 : 1);
    expect(lines.join('\n')).not.toMatch(/<html|<pre|Time-out/i);
  });
});

// The alerts API's own wait, where a 429 names none, is longer than the deadline of a call.
function longWait(deed: Deed, fault: string): RegExp | null {
  const isUnnamed = ['429', '429-retry-after-date'].includes(fault);
  return deed === 'alert' && isUnnamed ? /429.*Try again in a minute/s : null;
}

test.for(['503', 'reset', '504'])('a read is given up after three times of %s', async (fault) => {
  const { deliveries, lines } = await booth.under('pipe', fault, 9);
  expect(deliveries).toBe(3);
  expect(lines[0]).toBe('Request failed');
});

test('a read is given up after two times of 500', async () => {
  const { deliveries, lines } = await booth.under('pipe', '500', 9);
  expect(deliveries).toBe(2);
  expect(lines.join('\n')).toContain('500 INTERNAL_SERVER_ERROR: Please retry later');
});

/** The first letters of a card, and words that must stand below them. */
const ENDINGS: Readonly<Record<Expected['write'], readonly [RegExp, RegExp]>> = {
  accepted: [/^● .*: accepted$/, /The server reports: /],
  'no details': [/^● .*: accepted$/, /The server reports: no details\./],
  unknown: [/^\? .*: outcome unknown$/, /Signalbox does not send it again/],
  refused: [/^✕ .*: rejected by the server$/, /Nothing was changed\./],
  later: [/^○ .*: approved$/, /requested a pause, so nothing was sent\. Next attempt: /],
};

async function expectEnding(outcome: Outcome, write: Expected['write']): Promise<void> {
  const { lines, deliveries } = outcome;
  const [title, words] = ENDINGS[write];
  const text = lines.join('\n');
  expect(lines[0]).toMatch(title);
  expect(text).toMatch(words);
  expect(text).not.toMatch(/<html|<pre|Time-out/i);
  expect(text).not.toMatch(/\b(is|was|has been) (stopped|created|started)\b/);
  expect(deliveries).toBe(1);
  if (write === 'later') await itsTimeComes(outcome);
}

// What was held back goes out once more, by itself, with all checks made again.
async function itsTimeComes({ now, effectsNow }: Outcome): Promise<void> {
  booth.time.pass(121_000);
  booth.wake();
  await until(() => (/: accepted$/.test(now()[0] ?? '') ? true : null), 'the second try');
  expect(effectsNow()).toBe(1);
}

describe.for(['stop', 'create'] as const)('a person confirms: %s', (deed) => {
  test.for(ALL)('during %s', async ([fault, { write, effects }]) => {
    const outcome = await booth.under(deed, fault);
    await expectEnding(outcome, write);
    expect(outcome.effects).toBe(effects);
  });
});

describe('a person confirms an endpoint', () => {
  const risky = ALL.filter(([, { write }]) => write === 'unknown' || write === 'later');
  test.for(risky)('during %s', async ([fault, { write, effects }]) => {
    const outcome = await booth.under('endpoint', fault);
    await expectEnding(outcome, write);
    expect(outcome.effects).toBe(effects);
  });
});

describe('a person confirms the edit of an alert', () => {
  test.for(ALL)('during %s', async ([fault, { write, effects }]) => {
    const outcome = await booth.under('edit', fault);
    // An alert can be read: what is as it was asked for is no longer in doubt.
    const isSeen = write === 'unknown' && effects === 1;
    await expectEnding(outcome, isSeen ? 'accepted' : write);
    if (isSeen)
      expect(outcome.lines.join('\n')).toContain('read again: all values are as requested');
    expect(outcome.effects).toBe(effects);
  });
});

test('an outcome in doubt keeps its target locked, and is never sent again', async () => {
  const lost = await booth.under('scale', 'close-after-effect');
  await expectEnding(lost, 'unknown');
  const before = booth.cloud.count('scale');
  const preview = await booth.typed(`/service stop box-${lost.n}`);
  expect(booth.linesIn(preview).join('\n')).toContain(`requested “scale box-${lost.n}”`);
  booth.time.pass(600_000);
  booth.wake();
  await booth.said('/service list');
  expect(booth.cloud.count('scale')).toBe(before);
});

test.for<[Deed, string, string]>([
  ['stop', 'stale-state', 'The server reports: running. This can take minutes'],
  ['stop', 'no-state', 'The server reports: no details. This can take minutes'],
  ['stop', 'nulls', 'The server reports: no details. This can take minutes'],
  ['stop', 'unknown-enum', 'The server reports: brand-new. This can take minutes'],
  ['stop', 'wrong-object', 'The server reports: no details. This can take minutes'],
  ['scale', 'stale-state', '⚠ maxReplicaMemoryGb is 32, not 64 as sent'],
  ['scale', 'reply-differs', '⚠ minReplicaMemoryGb is 20, not 16 as sent'],
  [
    'scale',
    'number-as-string',
    'running, all values as requested, in force now: minReplicaMemoryGb 8, max',
  ],
  ['scale', 'nulls', 'The server reports: no details.'],
  ['endpoint', 'nulls', 'The server reports: id '],
  ['endpoint', 'unknown-enum', 'status brand-new'],
  ['endpoint', 'reply-differs', '⚠ description is feed (changed), not feed as sent'],
  ['create', 'reply-differs', ' (changed), not new '],
  ['create', 'no-state', 'The server reports: id '],
  ['create', 'nulls', 'The server reports: id '],
  ['edit', 'reply-differs', '⚠ threshold is 4325, not 4321 as sent'],
  ['edit', 'missing-field', '⚠ threshold: the reply does not show it (sent: 4321)'],
  ['edit', 'no-state', 'The server reports: no details.'],
  ['edit', 'wrong-object', 'The server reports: no details.'],
])('%s, where the reply is %s: “%s”', async ([deed, fault, words]) => {
  const { lines, deliveries, effects } = await booth.under(deed, fault);
  expect(lines[0]).toMatch(/: accepted$/);
  expect(lines.join('\n')).toContain(words);
  expect([deliveries, effects]).toEqual([1, 1]);
});
