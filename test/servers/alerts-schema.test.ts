import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isRecord } from '../../src/base/http-answer.ts';
import { MaybeNumber, MaybeText, tolerant } from '../../src/base/http-rows.ts';
import {
  Alert,
  AlertBody,
  AlertEdit,
  isSilenced,
  underRequestNames,
} from '../../src/servers/alerts-schema.ts';
import { contractSearch, contractTile, currentSearch, currentTile } from './alerts-replies.ts';
import { requestProblems } from './request-problems.ts';

const NOON = new Date('2026-11-20T12:00:00Z');

describe('an alert reads the same from every server', () => {
  const { teamId, dashboardId } = currentTile;
  const { team, dashboard } = contractTile;

  test.for<[string, object, object]>([
    ['current, tile', currentTile, { teamId, dashboardId, savedSearchId: null }],
    ['current, saved search', currentSearch, { savedSearchId: currentSearch.savedSearchId }],
    ['contract, tile', contractTile, { teamId: team, dashboardId: dashboard, savedSearchId: null }],
    ['contract, saved search', contractSearch, { savedSearchId: contractSearch.savedSearch }],
  ])('%s', ([, reply, fields]) => {
    const alert = Alert.parse(reply);
    expect(alert).toMatchObject(fields);
    expect(alert.asRead).toEqual(reply);
  });

  test.for<[string, object, unknown[]]>([
    ['a list of channels', currentTile, currentTile.channels],
    ['one channel', contractTile, [contractTile.channel]],
    ['no channel', { ...contractTile, channel: undefined }, []],
    ['a channel of null', { ...contractTile, channel: null }, []],
  ])('%s', ([, reply, channels]) => {
    expect(Alert.parse(reply).channels).toEqual(channels);
  });

  test('with the newer name where both are present', () => {
    const both = { dashboardId: 'new', dashboard: 'old' };
    expect(Alert.parse(both).dashboardId).toBe('new');
    expect(Alert.parse({ dashboard: 'old', dashboardId: 'new' }).dashboardId).toBe('new');
  });
});

describe('an alert is silenced', () => {
  const until = (moment: string | null) => ({ by: 'ana', at: 'then', until: moment });

  test.for<[string, unknown, boolean]>([
    ['until a second from now', until('2026-11-20T12:00:01Z'), true],
    ['until this moment: no longer', until('2026-11-20T12:00:00Z'), false],
    ['until yesterday: no longer', until('2026-11-19T12:00:00Z'), false],
    ['until an unknown end: not silenced', until(null), false],
    ['until nonsense: not that we know', until('soon'), false],
    ['by a yes', true, true],
    ['by a no: it is not', false, false],
    ['by null: it is not', null, false],
    ['by nothing: it is not', undefined, false],
    ['by something else: not that we know', 'yes', false],
  ])('%s', ([, silenced, expected]) => {
    expect(isSilenced(Alert.parse({ ...currentTile, silenced }), NOON)).toBe(expected);
  });
});

describe('an edit', () => {
  const INTERVAL = 'must be a number and a unit, for example 5m, 15m or 1h';

  test.for<[string, unknown[], unknown[], string]>([
    ['threshold', [0, -1, 2.5], ['5', null, NaN], 'must be a number'],
    ['interval', ['1m', '5m', '15m', '1h', '1d'], ['', '0m', 'm', '5', '5 m', 'm5', 5], INTERVAL],
    ['thresholdType', ['above', 'below'], ['between', 'ABOVE', ''], 'must be above or below'],
    ['name', ['a', ''], [5, null], 'must be a text'],
    ['message', ['a', ''], [5, null], 'must be a text'],
    ['webhookId', ['w'], [''], 'must not be empty'],
  ])('may set %s', ([field, good, bad, problem]) => {
    for (const value of good) expect(AlertEdit.safeParse({ [field]: value }).success).toBe(true);
    const problems = bad.flatMap((value) => requestProblems(AlertEdit, { [field]: value }));
    expect(problems).toEqual(bad.map(() => ({ field, problem })));
  });

  test('may not set the source', () => {
    expect(requestProblems(AlertEdit, { threshold: 1, source: 'tile' })).toEqual([
      { field: 'source', problem: 'is not a field of this request' },
    ]);
  });

  test.each([{}, { threshold: undefined }])('must contain at least one change (%j)', (edit) => {
    const [issue] = AlertEdit.safeParse(edit).error?.issues ?? [];
    expect(issue?.message).toBe('must contain at least one change');
  });
});

describe('the body of an update', () => {
  const CHANNEL = 'must have a type, and a webhook its id';

  test.for<[string, object, string]>([
    ['a null', { runbook: null }, 'must not be null'],
    ['an empty name', { name: '' }, 'must not be empty'],
    ['a note that is a number', { note: 5 }, 'must be a text'],
    ['an upper bound in words', { thresholdMax: 'ten' }, 'must be a number'],
    ['a channel without a type', { channel: {} }, CHANNEL],
    ['a webhook without its id', { channels: [{ type: 'webhook' }] }, CHANNEL],
    ['a state', { state: 'OK' }, 'is set by the server only'],
    ['a silence', { silenced: {} }, 'is set by the server only'],
    ['a threshold in words', { threshold: 'five' }, 'must be a number'],
  ])('with %s is not sent', ([, body, problem]) => {
    expect(AlertBody.safeParse(body).error?.issues).toMatchObject([{ message: problem }]);
  });
});

const VALUES = fc.oneof(
  fc.constantFrom<unknown>('', '5', ' -1.5e-7 ', '1e999', '0x10', 'NaN', true, false, null, [], {}),
  fc.constantFrom<unknown>([{}], [{ type: 'email' }, null], { until: '2026-11-20' }, { until: 5 }),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
/** The fields of an alert for display, as a schema reads them. */
const KnownFields = z.object({
  ...{ id: MaybeText, name: MaybeText, message: MaybeText, note: MaybeText, interval: MaybeText },
  ...{ thresholdType: MaybeText, source: MaybeText, state: MaybeText, teamId: MaybeText },
  ...{ dashboardId: MaybeText, tileId: MaybeText, savedSearchId: MaybeText, groupBy: MaybeText },
  ...{ createdAt: MaybeText, updatedAt: MaybeText },
  ...{ threshold: MaybeNumber, thresholdMax: MaybeNumber },
  channels: z
    .array(z.unknown())
    .catch([])
    .transform((list) => list.filter(isRecord)),
  silenced: tolerant(z.union([z.boolean(), z.looseObject({ until: MaybeText })])),
});
const NAMES = [...Object.keys(KnownFields.shape), 'channel', 'dashboard', 'savedSearch', 'team'];

test('the fast reader and the schema give the same alert for any field values', () => {
  const replies = fc.dictionary(fc.constantFrom(...NAMES, 'tags'), VALUES);
  fc.assert(
    fc.property(replies, (reply) => {
      const fields = underRequestNames(reply);
      const channels = fields.channels ?? (fields.channel ? [fields.channel] : []);
      const known = KnownFields.parse({ ...fields, channels });
      expect(Alert.parse(reply)).toStrictEqual({ ...known, asRead: reply });
    }),
    { numRuns: 2_000 },
  );
});

test('fields keep their order under their request names, in which an update sends them', () => {
  const reply = { id: 'a1', dashboard: 'd1', name: 'x', savedSearch: 's1', team: 't1' };
  const names = ['id', 'dashboardId', 'name', 'savedSearchId', 'teamId'];
  expect(Object.keys(underRequestNames(reply))).toEqual(names);
});
