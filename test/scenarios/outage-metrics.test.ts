import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { freshUrl } from '../storage/engines.ts';

// Each fault produces the series on which an alert of deploy/prometheus/alerts.yaml fires.
async function expectMetrics({ url }: TestSandbox, ...lines: readonly string[]): Promise<void> {
  const read = async () => (await (await fetch(`${url}/metrics`)).text()).split('\n');
  await expect.poll(read).toEqual(expect.arrayContaining([...lines]));
}

test('a database that refuses writes but not reads is shown as such', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');
  await expectMetrics(sandbox, 'signalbox_database_readable 1', 'signalbox_database_writable 0');
  other.exec('rollback');
  other.close();
  await expectMetrics(sandbox, 'signalbox_database_readable 1', 'signalbox_database_writable 1');
});

test('a refused reload is shown until another one succeeds', async () => {
  const sandbox = await startTestSandbox();
  if (!sandbox.started.ok) throw new Error('The bot does not run');
  const { config } = sandbox;
  await expectMetrics(sandbox, `signalbox_config_info{hash="${config.configHash}"} 1`);
  const problems = [{ where: 'digests', problem: 'is not a list', hint: null }];
  await sandbox.started.reload({ ok: false, problems });
  await expectMetrics(sandbox, 'signalbox_config_last_reload_success 0');
  await sandbox.started.reload({ ok: true, config: { ...config, port: 1 } });
  await expectMetrics(sandbox, 'signalbox_config_last_reload_success 0');
  expect(await sandbox.reload()).toEqual({ ok: true });
  await expectMetrics(sandbox, 'signalbox_config_last_reload_success 1');
});
