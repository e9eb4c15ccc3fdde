import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { placeOf, textOf } from '../harness/messages.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const NEW_SECRET = 'the-secret-of-after-the-rotation';

test('SIGHUP reads a new cloud API key from its file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'cloud-secret');
  writeFileSync(file, `${CLOUD_KEY.secret}\n`);
  const env = { CLOUD_API_KEY_SECRET: '', CLOUD_API_KEY_SECRET_FILE: file };
  const sandbox = await startProcessSandbox({ databaseUrl: await emptyUrl('postgres'), env });
  const { slack, cloud } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const waiting = await requestChange(sandbox);

  // The cloud rejects the old key, and a query shows the error.
  cloud.setKey(CLOUD_KEY.id, { secret: NEW_SECRET });
  await slack.command(ANA, 'ops', '/pipe settings analytics-prod orders');
  const answers = () =>
    slack
      .messages('ops')
      .filter(({ ephemeralFor }) => ephemeralFor === ANA)
      .map(textOf)
      .join('\n');
  await expect.poll(answers, PROCESS_LIMITS).toContain('The server rejected the API key.');

  writeFileSync(file, `${NEW_SECRET}\n`);
  bot.signal('SIGHUP');
  await expect.poll(bot.logged, PROCESS_LIMITS).toContain('the new configuration is active');
  await slack.click(BEN, placeOf(waiting), 'change.approve');
  await expect.poll(() => waiting.text, PROCESS_LIMITS).toContain('staging is stopping');
  expect(cloud.effectCount('set state', STAGING)).toBe(1);
  for (const secret of [CLOUD_KEY.secret, NEW_SECRET]) {
    expect(bot.logLines().filter((line) => line.includes(secret))).toEqual([]);
  }
});
