import { expect, test } from 'vitest';
import { changeIdOf, requestAndApprove } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const DAY_MS = 86_400_000;

/** The measured effect in `/change show`, from costs that are read again; null without one. */
async function shownEffect(sandbox: TestSandbox, id: string): Promise<string | null> {
  await sandbox.nextAnswer(ANA, '/cost 90d refresh', ' (UTC) · ');
  const answer = await sandbox.nextAnswer(ANA, `/change show ${id}`, 'History');
  return answer.split('\n').find((line) => line.includes('days later')) ?? null;
}

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
  // Days lock after three days, so that each is settled without a report on each day.
  sandbox.cloud.behave({ costLocking: { days: 3, batchDays: 1, stragglers: 0 } });
  await requestAndApprove(sandbox, '/service stop staging for the night');
  const id = changeIdOf(await sandbox.card('staging is stopping'));
  sandbox.pass(6 * DAY_MS);
  expect(await shownEffect(sandbox, id)).toMatch(
    /^3 days later: compute [\d.]+ → 0 per day \(−100 ?%\); estimate −100 ?%\.$/,
  );
  sandbox.pass(4 * DAY_MS);
  expect(await shownEffect(sandbox, id)).toContain('7 days later');

  await requestAndApprove(sandbox, '/service start staging again');
  await sandbox.card('staging is starting');
  expect(await shownEffect(sandbox, id)).toBeNull();
});
