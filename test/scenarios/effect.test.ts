import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { changeIdOf, requestAndApprove, requested } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** Days lock after three days, so that each is settled without a report on each day. */
function lockEarly({ cloud }: TestSandbox): void {
  cloud.behave({ costLocking: { days: 3, batchDays: 1, stragglers: 0 } });
}

function pass(sandbox: TestSandbox, days: number): void {
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + days * 86_400_000);
}

/** The measured effect in `/change show`, from costs that are read again; null without one. */
async function shownEffect(sandbox: TestSandbox, id: string): Promise<string | null> {
  await sandbox.nextAnswer(ANA, '/cost 90d refresh', ' (UTC) · ');
  const answer = await sandbox.nextAnswer(ANA, `/change show ${id}`, 'History');
  return answer.split('\n').find((line) => line.includes('days later')) ?? null;
}

test('preview and card show the cost effect with its range, and Show request all of it', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  const [, perDay = '', range = ''] =
    /Cost {2}(−[\d.]+ credits per day)( \(−[\d.]+ on quiet days, −[\d.]+ on busy days\))? · storage continues/.exec(
      textOf(preview),
    ) ?? [];
  expect(perDay).not.toBe('');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card(requested('Stop staging'));
  expect(textOf(card)).toContain(`Cost  ${perDay}${range}`);
  await sandbox.press(BEN, card, 'change.details');
  const whole = await sandbox.privateMessage(BEN, `Estimate  ${perDay}${range}, from 14 `);
  expect(textOf(whole)).toContain('; storage continues');
});

test('a refused request does not read the usage report', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(BEN, '/service stop staging because', "You can't stop");
  // The directory reads the last week, an estimate reads several months.
  const read = () => JSON.stringify(sandbox.cloud.requests().map(({ reply }) => reply));
  expect(read()).not.toContain('2026-09');

  await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  expect(read()).toContain('2026-09');
});

test('the measured savings of a stop are in /change show after three and after seven days', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  lockEarly(sandbox);
  await requestAndApprove(sandbox, '/service stop staging for the night');
  const id = changeIdOf(await sandbox.card('staging is stopping'));
  pass(sandbox, 6);
  expect(await shownEffect(sandbox, id)).toMatch(
    /^3 days later: compute [\d.]+ → 0 per day \(−100 ?%\); estimate −100 ?%\.$/,
  );
  pass(sandbox, 4);
  expect(await shownEffect(sandbox, id)).toContain('7 days later');

  await requestAndApprove(sandbox, '/service start staging again');
  await sandbox.card('staging is starting');
  expect(await shownEffect(sandbox, id)).toBeNull();
});
