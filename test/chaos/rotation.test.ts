import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { STAGING } from '../scenarios/request.ts';
import { ANA, BEN, textOf } from '../scenarios/stage.ts';
import { freshUrl } from '../storage/engines.ts';
import { asked, PATIENCE, placeOf } from './processes/hands.ts';
import { openShippedStage } from './processes/shipped.ts';

const NEW_SECRET = 'the-secret-of-after-the-rotation';

test('SIGHUP reads a new cloud API key from its file', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'cloud-secret');
  writeFileSync(file, `${CLOUD_KEY.secret}\n`);
  const env = { CLOUD_API_KEY_SECRET: '', CLOUD_API_KEY_SECRET_FILE: file };
  const stage = await openShippedStage({ databaseUrl: await freshUrl('postgres'), env });
  const { slack, cloud } = stage;
  const bot = await stage.start();
  slack.deliverTo(`${bot.url}/slack/events`);
  const waiting = await asked(stage, 'stop');

  // The cloud rejects the old key, and a query shows the error.
  cloud.setKey(CLOUD_KEY.id, { secret: NEW_SECRET });
  await slack.command(ANA, 'ops', '/pipe settings analytics-prod orders');
  const answers = () =>
    slack
      .messages('ops')
      .filter(({ ephemeralFor }) => ephemeralFor === ANA)
      .map(textOf)
      .join('\n');
  await expect.poll(answers, PATIENCE).toContain('The server rejected the API key.');

  writeFileSync(file, `${NEW_SECRET}\n`);
  bot.signal('SIGHUP');
  await expect.poll(bot.said, PATIENCE).toContain('the new configuration is active');
  await slack.click(BEN, placeOf(waiting), 'change.approve');
  await expect.poll(() => waiting.text, PATIENCE).toContain('Stop staging: accepted');
  expect(cloud.effectCount('set state', STAGING)).toBe(1);
  for (const secret of [CLOUD_KEY.secret, NEW_SECRET]) {
    expect(bot.lines().filter((line) => line.includes(secret))).toEqual([]);
  }
});
