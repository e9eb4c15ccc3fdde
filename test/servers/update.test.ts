import { describe, expect, test } from 'vitest';
import { type AlertRefusal, alertUpdate, differences } from '../../src/servers/alerts.ts';
import { Alert, AlertBody, type AlertEdit } from '../../src/servers/alerts-schema.ts';
import { contractSearch, contractTile, currentSearch, currentTile } from './alerts-replies.ts';

const read = (reply: object) => Alert.parse(reply);

function bodyOf(reply: object, edit: AlertEdit) {
  const update = alertUpdate(read(reply), edit);
  if (!update.ok) throw new Error(update.refusal);
  return update.body;
}

/** What only the server sets. */
const SERVER_SET = [
  ...['id', 'state', 'team', 'teamId', 'silenced', 'executionErrors'],
  ...['createdAt', 'updatedAt', 'createdBy'],
];

/** The fields of a reply that are neither null nor set by the server only. */
function kept(reply: object) {
  const all = Object.entries(reply);
  return Object.fromEntries(
    all.filter(([name, value]) => value !== null && !SERVER_SET.includes(name)),
  );
}

describe('an update keeps all fields that were read and applies the requested changes', () => {
  test('of a tile alert on a current server', () => {
    const edit = { threshold: 250, interval: '15m' };
    expect(bodyOf(currentTile, edit)).toEqual({ ...kept(currentTile), ...edit });
  });

  test('of a saved-search alert with a range', () => {
    const expected = { ...kept(currentSearch), threshold: 10, thresholdMax: 50 };
    expect(bodyOf(currentSearch, { threshold: 10 })).toEqual(expected);
  });

  test('of a tile alert on a contract-only server: its nine fields and no other', () => {
    const { dashboard: dashboardId, groupBy: _, ...fields } = contractTile;
    const expected = { ...kept(fields), name: 'errors', dashboardId };
    expect(Object.keys(expected)).toHaveLength(9);
    expect(bodyOf(contractTile, { name: 'errors' })).toEqual(expected);
  });

  test.for<[string, unknown]>([
    ['a null', null],
    ['a webhook without its id', { type: 'webhook', webhookId: null }],
    ['a channel without a type', { webhookId: 'w9' }],
  ])('except %s among several channels, which a deleted webhook left', ([, left]) => {
    const [first] = currentTile.channels;
    const email = { type: 'email', emailRecipients: ['a@example.com'] };
    const reply = { ...currentTile, channels: [first, left, email] };
    const body = bodyOf(reply, { threshold: 250 });
    expect(body.channels).toEqual([first, email]);
    expect(AlertBody.safeParse(body).success).toBe(true);
    expect(differences(body, read(reply)).map(({ field }) => field)).not.toContain('channels');
  });

  test('with a webhook for the first of several channels that a deleted one left', () => {
    const second = { type: 'webhook', webhookId: 'w2' };
    const reply = { ...currentTile, channel: null, channels: [null, second] };
    expect(alertUpdate(read(reply), { threshold: 250 })).toMatchObject({ refusal: 'no-channel' });
    const body = bodyOf(reply, { webhookId: 'w3' });
    expect(body.channels).toEqual([{ type: 'webhook', webhookId: 'w3' }, second]);
  });

  test('except a name or a message that the edit removes', () => {
    const update = alertUpdate(read(contractTile), { message: '' });
    if (!update.ok) throw new Error(update.refusal);
    expect(update.body).not.toHaveProperty('message');
    expect(update.changes).toEqual([{ field: 'message', before: 'too many', after: undefined }]);
    const again = alertUpdate(read({ ...contractTile, message: null }), { message: '' });
    expect(again).toMatchObject({ ok: true, changes: [] });
    // The server kept it.
    expect(differences(update.body, read(contractTile))).toEqual([
      { field: 'message', sent: undefined, got: 'too many' },
    ]);
  });

  test('of a search alert on a contract-only server, with request names', () => {
    const body = bodyOf(contractSearch, { threshold: 1 });
    const savedSearchId = contractSearch.savedSearch;
    expect(body).toMatchObject({ source: 'search', savedSearchId, groupBy: 'service' });
    expect(Object.keys(body)).not.toContain('savedSearch');
    expect(Object.keys(body)).not.toContain('dashboardId');
  });

  test('with unknown keys of a newer server', () => {
    const body = bodyOf({ ...currentTile, runbook: { url: 'x' } }, { threshold: 1 });
    expect(body.runbook).toEqual({ url: 'x' });
  });

  test('with a threshold of zero, and with one below it', () => {
    expect(bodyOf(currentTile, { threshold: 0 }).threshold).toBe(0);
    expect(bodyOf(currentTile, { threshold: -5 }).threshold).toBe(-5);
  });

  test('with a number where the server sent a string', () => {
    expect(bodyOf({ ...currentTile, threshold: '100' }, { interval: '1h' }).threshold).toBe(100);
  });

  test.each(SERVER_SET)('but not %s, which only the server sets', (field) => {
    expect(bodyOf({ ...currentTile, [field]: 'x' }, { threshold: 1 })).not.toHaveProperty(field);
  });

  test('but not the fields of another source', () => {
    const tile = { ...currentTile, savedSearchId: 's', groupBy: 'service' };
    expect(bodyOf(tile, { threshold: 1 })).not.toHaveProperty('savedSearchId');
    expect(bodyOf(tile, { threshold: 1 })).not.toHaveProperty('groupBy');
    const search = { ...currentSearch, dashboardId: 'd', tileId: 't' };
    expect(bodyOf(search, { threshold: 6 })).not.toHaveProperty('dashboardId');
    expect(bodyOf(search, { threshold: 6 })).not.toHaveProperty('tileId');
  });

  test('but not an upper bound of a former range', () => {
    const body = bodyOf({ ...currentTile, thresholdMax: 500 }, { threshold: 1 });
    expect(body).not.toHaveProperty('thresholdMax');
  });
});

describe('another webhook', () => {
  test('goes into the first channel, whose unknown keys are kept', () => {
    const body = bodyOf(currentTile, { webhookId: 'w2' });
    const first = { type: 'webhook', webhookId: 'w2', severity: 'high' };
    expect(body.channels).toEqual([first, currentTile.channels[1]]);
    expect(body.channel).toEqual(first);
  });

  test('goes into the only channel of an older server', () => {
    const body = bodyOf(contractTile, { webhookId: 'w2' });
    expect(body.channel).toEqual({ type: 'webhook', webhookId: 'w2' });
    expect(body).not.toHaveProperty('channels');
  });
});

describe('an alert without a channel gets a webhook', () => {
  const { channel: _, channels: __, ...silent } = currentTile;
  const webhook = { type: 'webhook', webhookId: 'w2' };

  test.for<[string, object, object]>([
    ['where none was read', silent, { channel: webhook }],
    ['where it is null', { ...contractTile, channel: null }, { channel: webhook }],
    ['where it has no type', { ...contractTile, channel: { type: '' } }, { channel: webhook }],
    ['where it lost its id', { ...silent, channel: { type: 'webhook' } }, { channel: webhook }],
    ['where the list is empty', { ...silent, channels: [] }, { channels: [webhook] }],
  ])('%s', ([, reply, channel]) => {
    const body = bodyOf(reply, { webhookId: 'w2', threshold: 1 });
    const { channel: one, channels: all } = body;
    expect({ ...(one && { channel: one }), ...(all && { channels: all }) }).toEqual(channel);
    expect(AlertBody.safeParse(body).success).toBe(true);
  });
});

test('an alert without a tile gets one', () => {
  const lost = { ...currentTile, dashboardId: null, tileId: null };
  const update = alertUpdate(read(lost), { dashboardId: 'd2', tileId: 'tile-9' });
  expect(update).toMatchObject({ ok: true, body: { dashboardId: 'd2', tileId: 'tile-9' } });
  expect(alertUpdate(read(lost), { tileId: 'tile-9' })).toEqual({ ok: false, refusal: 'no-tile' });
});

test('what a server returns as an empty text is not set', () => {
  const body = bodyOf({ ...currentSearch, name: '', message: '', groupBy: '' }, { threshold: 9 });
  expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['name']));
  expect(Object.values(body)).not.toContain('');
});

test('an alert moves to another tile', () => {
  const body = bodyOf(currentTile, { dashboardId: 'd2', tileId: 'tile-9' });
  expect(body).toMatchObject({ source: 'tile', dashboardId: 'd2', tileId: 'tile-9' });
});

test('an update lists changed and unchanged fields', () => {
  const update = alertUpdate(read(currentTile), { threshold: 250, name: '5xx rate' });
  const unchangedFields = [
    ...['name', 'thresholdType', 'interval', 'source', 'channel', 'channels', 'note'],
    ...['numConsecutiveWindows', 'dashboardId', 'tileId', 'silenced'],
  ];
  const changes = [{ field: 'threshold', before: 100, after: 250 }];
  expect(update).toMatchObject({ ok: true, changes, unchangedFields });
});

describe('an update is refused', () => {
  const { channel: _, channels: __, ...silent } = currentTile;
  const exclusive = { ...currentTile, thresholdType: 'above_exclusive' };
  const email = { ...contractTile, channel: { type: 'email' } };
  const unsaved = { ...contractSearch, savedSearch: null };

  const second = { type: 'webhook', webhookId: 'w2' };
  const offset = { ...currentTile, interval: '30m', scheduleOffsetMinutes: 15 };

  test.for<[string, AlertRefusal, object, AlertEdit?]>([
    ['no channel was read', 'no-channel', silent],
    ['the list of channels is empty', 'no-channel', { ...silent, channels: [] }],
    ['the channel is null', 'no-channel', { ...silent, channel: null }],
    ['no dashboard was read', 'no-tile', { ...currentTile, dashboardId: null }],
    ['no tile was read', 'no-tile', { ...currentTile, tileId: undefined }],
    ['no saved search was read', 'no-saved-search', { ...currentSearch, savedSearchId: null }],
    ['no source was read', 'unknown-source', { ...currentTile, source: null }],
    ['the source is new', 'unknown-source', { ...currentTile, source: 'metric' }],
    ['the range would be a limit', 'type-not-editable', currentSearch, { thresholdType: 'above' }],
    ['the type is of another kind', 'type-not-editable', exclusive, { thresholdType: 'below' }],
    ['the lower bound passes the upper', 'bounds-crossed', currentSearch, { threshold: 51 }],
    [
      'the bounds were crossed before',
      'bounds-crossed',
      { ...currentSearch, threshold: 51 },
      { name: 'x' },
    ],
    ['the schedule offset is as long', 'offset-too-long', offset, { interval: '15m' }],
    [
      'the webhook is the second channel already',
      'webhook-twice',
      { ...currentTile, channels: [currentTile.channel, second] },
      { webhookId: 'w2' },
    ],
    ['the channel has no webhook', 'no-channel', { ...contractTile, channel: {} }, { name: 'x' }],
    ['a saved-search alert should move', 'not-a-tile-alert', currentSearch, { tileId: 't' }],
    ['it should get a dashboard', 'not-a-tile-alert', contractSearch, { dashboardId: 'd' }],
    ['the channel is no webhook', 'channel-without-webhook', email, { webhookId: 'w2' }],
  ])('when %s', ([, refusal, reply, edit = { threshold: 1 }]) => {
    expect(alertUpdate(read(reply), edit)).toEqual({ ok: false, refusal });
  });

  test('an edit to the current values changes nothing', () => {
    const update = alertUpdate(read(currentTile), { threshold: 100, interval: '5m' });
    expect(update).toMatchObject({ ok: true, changes: [] });
  });

  test.for<[string, object, AlertEdit]>([
    ['the lower bound meets the upper', currentSearch, { threshold: 50 }],
    ['the kind of type stays', exclusive, { threshold: 1 }],
    ['a limit turns around', currentTile, { thresholdType: 'below' }],
    ['the contract knows no saved search', unsaved, { threshold: 1 }],
  ])('but not when %s', ([, reply, edit]) => {
    expect(alertUpdate(read(reply), edit)).toMatchObject({ ok: true });
  });
});

describe('the reply to an update is compared with what was sent', () => {
  const body = bodyOf(currentTile, { threshold: 250 });
  const reply = { ...currentTile, threshold: 250 };
  const { channels: both } = currentTile;
  const [first] = both;

  test('and matches, whatever the server sets itself', () => {
    expect(differences(body, read({ ...reply, updatedAt: 'now', state: 'OK' }))).toEqual([]);
  });

  test('and matches in spite of older names and numbers in strings', () => {
    const { dashboardId, ...rest } = reply;
    const older = { ...rest, dashboard: dashboardId, threshold: '250', numConsecutiveWindows: '2' };
    expect(differences(body, read(older))).toEqual([]);
  });

  test.for<[string, object, { field: string; sent: unknown; got: unknown }]>([
    ['was not changed', { threshold: 100 }, { field: 'threshold', sent: 250, got: 100 }],
    ['was cleared', { note: null }, { field: 'note', sent: 'see the runbook', got: undefined }],
    ['was cut short', { channels: [first] }, { field: 'channels', sent: both, got: [first] }],
    ['is zero as text', { threshold: 'soon' }, { field: 'threshold', sent: 250, got: undefined }],
  ])('and shows a field that %s', ([, changed, difference]) => {
    expect(differences(body, read({ ...reply, ...changed }))).toEqual([difference]);
  });

  test('and shows that the alert was converted', () => {
    const search = bodyOf(currentSearch, { threshold: 10 });
    const converted = { ...currentSearch, threshold: 10, source: 'tile', savedSearchId: null };
    const fields = differences(search, read(converted)).map(({ field }) => field);
    expect(fields).toEqual(['source', 'savedSearchId', 'groupBy']);
  });
});
