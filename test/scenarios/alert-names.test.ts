import { expect, test } from 'vitest';
import { SAVED_SEARCHES, WEBHOOKS } from '../../sandbox/seed/alert-references.ts';
import { startExtended } from '../harness/following.ts';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

const DELETED = '02ba0cd5a9d1c575140b4833';

test('an alert is shown with the names of its tile, dashboard, search and webhooks', async () => {
  const sandbox = await startExtended();
  const tile = await sandbox.answer(ANA, '/alert show "Checkout latency p95"', 'Notifies');
  expect(tile).toContain('Tile  Latency\nDashboard  Checkout\n');
  expect(tile).toContain('Notifies  Production alerts\n');
  const search = await sandbox.answer(ANA, '/alert show "5xx rate"', 'Errors by service');
  expect(search).toContain('Saved search  Errors by service');
  expect(search).toContain('Notifies  Production alerts, Paging');
  const list = await sandbox.answer(ANA, '/alert list', '3 of 14 alerts firing');
  expect(list).toContain('Production alerts, Paging');
});

test('preview and card of an edit name what the alert notifies', async () => {
  const sandbox = await startExtended();
  const line = '/alert edit "Disk usage" webhook=Paging';
  const text = await sandbox.answer(ANA, line, 'Edit alert');
  expect(text).toContain('notifies Production alerts → notifies Paging');
  expect(text).toContain('source, dashboard, tile');
  expect(text).not.toContain('The server does not list');
  const preview = await sandbox.privateMessage(ANA, 'notifies Paging');
  await sandbox.press(ANA, preview, 'change.details');
  await sandbox.privateMessage(ANA, 'dashboard (Platform), tile (Disk)');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('notifies Paging');
  expect(textOf(card)).toContain('notifies Production alerts → ');
});

test('an edit of an alert whose webhook, tile or search is not listed is preceded by a warning', async () => {
  const sandbox = await startExtended();
  const all = sandbox.alerts.alerts();
  const orphan = all.find(({ channels }) => JSON.stringify(channels).includes(DELETED));
  const warning = (what: string) =>
    `⚠ The server does not list ${what}. If it was deleted, the server refuses this edit.`;
  const webhook = await sandbox.answer(ANA, `/alert edit ${orphan?.id} threshold=7`, 'Edit alert');
  expect(webhook).toContain(warning(`webhook ${DELETED}`));
  // The edit itself can repair the alert.
  const repaired = await sandbox.answer(
    ANA,
    `/alert edit ${orphan?.id} webhook=Paging`,
    'notifies Paging',
  );
  expect(repaired).not.toContain('The server does not list');

  sandbox.alerts.removeTile('tile-disk');
  sandbox.alerts.removeSavedSearch(SAVED_SEARCHES.slowQueries);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 600_000);
  const tile = await sandbox.answer(
    ANA,
    '/alert edit "Disk usage" threshold=81',
    warning('tile tile-disk'),
  );
  expect(tile).not.toContain('list dashboard');
  await sandbox.answer(
    ANA,
    '/alert edit "Slow queries" threshold=26',
    warning(`saved search ${SAVED_SEARCHES.slowQueries}`),
  );
});

test.for(['403', 'read-wrong-shape'])(
  'after %s of every list, alerts are shown and edited with ids and without a warning',
  async (fault) => {
    const sandbox = await startExtended();
    for (const operation of ['list webhooks', 'list dashboards', 'list saved searches']) {
      sandbox.alerts.injectFault({ operation, fault, times: 9 });
    }
    const shown = await sandbox.answer(ANA, '/alert show "Disk usage"', 'Notifies');
    expect(shown).toContain(`Notifies  webhook ${WEBHOOKS.operations}`);
    expect(shown).toContain('Tile  tile-disk');
    const preview = await sandbox.answer(
      ANA,
      '/alert edit "Disk usage" threshold=81',
      'Edit alert',
    );
    expect(preview).toContain('80 → 81');
    expect(preview).not.toContain('does not list');
    expect(preview).not.toContain('notifies');
  },
);

test('with cloud.reads: contract no list is read', async () => {
  const sandbox = await startTestSandbox();
  const shown = await sandbox.answer(ANA, '/alert show "Disk usage"', 'Notifies');
  expect(shown).toContain(`Notifies  webhook ${WEBHOOKS.operations}`);
  await sandbox.answer(ANA, '/alert edit "Disk usage" threshold=81', '80 → 81');
  const lists = ['list webhooks', 'list dashboards', 'list saved searches'];
  expect(sandbox.alerts.requests().filter(({ operation }) => lists.includes(operation))).toEqual(
    [],
  );
});
