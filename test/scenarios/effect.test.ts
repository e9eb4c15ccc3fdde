import { expect, test } from 'vitest';
import { freshUrl } from '../storage/engines.ts';
import { empty } from './request.ts';
import { ANA, BEN, openStage, type Stage, textOf } from './stage.ts';

const STAGING = 'staging';
const FEATURES = 'ml-features';

/** Requests a change as Ana, approves it as Ben, and returns the card of the accepted change. */
async function run(stage: Stage, verb: 'Stop' | 'Start', service: string) {
  await stage.slack.command(ANA, 'ops', `/service ${verb.toLowerCase()} ${service} for the night`);
  const preview = await stage.privateWord(ANA, `${verb} ${service}?`);
  await stage.press(ANA, preview, 'change.confirm');
  const card = await stage.card(`${verb} ${service}: waiting for approval`);
  await stage.press(BEN, card, 'change.approve');
  return stage.card(`${verb} ${service}: accepted`);
}

function pass(stage: Stage, days: number): void {
  stage.clock.now = new Date(stage.clock.now.getTime() + days * 86_400_000);
}

function effectsIn(stage: Stage, threadTs: string | undefined): readonly string[] {
  const thread = stage.slack.messages('db-approvals').filter((each) => each.threadTs === threadTs);
  return thread.map(({ text }) => text).filter((text) => text.includes('final days later'));
}

test('the preview and the card of a stop show the same cost effect', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  const [said = ''] =
    /−[\d.]+ credits per day \(−[\d.]+ to −[\d.]+\), from 14 final days; −[\d.]+ by month end; storage \([\d.]+\) and backups \([\d.]+ per day\) continue/.exec(
      textOf(preview ?? empty),
    ) ?? [];
  expect(said).not.toBe('');
  await stage.press(ANA, preview, 'change.confirm');
  expect(textOf((await stage.card('Stop staging: waiting')) ?? empty)).toContain(said);
});

test('a preview without a usage report shows no estimate and works otherwise', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  expect(textOf(preview ?? empty)).toContain('unknown: the usage report did not answer');
});

test('a scale of a service with unknown size has no estimate', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service scale staging max=64');
  const preview = await stage.privateWord(ANA, 'Scale staging?');
  expect(textOf(preview ?? empty)).toContain(
    'unknown: Signalbox learns the size from the first change of this service',
  );
});

test('a service that was just scaled has no final days to estimate from', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service scale staging min=16 max=16 idle=off');
  const first = await stage.privateWord(ANA, 'Scale staging?');
  await stage.press(ANA, first, 'change.confirm');
  await stage.press(BEN, await stage.card('Scale staging: waiting'), 'change.approve');
  await stage.card('Scale staging: accepted');
  await stage.slack.command(ANA, 'ops', '/service scale staging min=8 max=8');
  await stage.privateWord(ANA, 'unknown: needs 7 final days since');
});

test('in a new sandbox a start of lab-core shows its size, and a scale then has an estimate', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service scale lab-core min=8 max=8');
  const unknown = await stage.privateWord(ANA, 'Scale lab-core?');
  expect(textOf(unknown ?? empty)).toContain('learns the size from the first change');

  await run(stage, 'Start', 'lab-core');
  await stage.slack.command(ANA, 'ops', '/service scale lab-core min=8 max=8');
  const told = await stage.privateWord(ANA, 'final days and both sizes');
  expect(textOf(told ?? empty)).toMatch(/−5\.\d credits per day/);
});

test('a refused request does not read the usage report', async () => {
  const stage = await openStage();
  await stage.slack.command(BEN, 'ops', '/service stop staging because');
  await stage.privateWord(BEN, 'You can’t use /service stop');
  // The directory reads the last week, an estimate reads several months.
  const read = () => JSON.stringify(stage.cloud.requests().map(({ reply }) => reply));
  expect(read()).not.toContain('2026-09');

  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  await stage.privateWord(ANA, 'Stop staging?');
  expect(read()).toContain('2026-09');
});

test('the measured savings of a stop are posted in its thread after three and after seven days', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const card = await run(stage, 'Stop', STAGING);
  pass(stage, 6);
  await stage.restart();
  await expect.poll(() => effectsIn(stage, card?.ts)).toHaveLength(1);
  expect(effectsIn(stage, card?.ts)[0]).toMatch(
    /^3 final days later: compute [\d.]+ → 0 per day \(−100 ?%\); estimate −100 ?%\.$/,
  );

  pass(stage, 4);
  await stage.restart();
  await expect.poll(() => effectsIn(stage, card?.ts)).toHaveLength(2);
  expect(effectsIn(stage, card?.ts)[1]).toContain('7 final days later');
});

test('no effect is posted for a change that was followed by another, and none is posted twice', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const stopped = await run(stage, 'Stop', STAGING);
  const other = await run(stage, 'Stop', FEATURES);
  pass(stage, 1);
  const started = await run(stage, 'Start', STAGING);
  pass(stage, 10);
  await stage.restart();
  await expect.poll(() => effectsIn(stage, other?.ts)).toHaveLength(1);
  expect(effectsIn(stage, other?.ts)[0]).toContain('7 final days later');

  // The stop below runs after the second pass and shows that the pass is complete.
  await stage.restart();
  await run(stage, 'Stop', STAGING);
  expect(effectsIn(stage, other?.ts)).toHaveLength(1);
  for (const card of [stopped, started]) expect(effectsIn(stage, card?.ts)).toEqual([]);
});
