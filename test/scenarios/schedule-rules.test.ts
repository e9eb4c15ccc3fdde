import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

test('a schedule needs the approvals of the commands that it runs', async () => {
  const sandbox = await startTestSandbox();
  const ask = async (line: string, words: string, by = ANA) => {
    await sandbox.slack.command(by, 'ops', line);
    return textOf(await sandbox.privateMessage(by, words));
  };
  const prod = '/service schedule analytics-prod stop="weekdays 20:00"';
  // Rule 4 for the schedule needs one approval, and rule 2 for the stop needs two.
  expect(await ask(`${prod} nightly`, 'Schedule analytics-prod?')).toContain('2 of @db-leads');
  await ask(prod, '@db-operators', DORA);

  const line = '/service schedule staging';
  expect(await ask(`${line} stop=20:00`, 'must be days and a time')).toContain('weekdays 20:00');
  const berlin = `${line} stop="fri 20:00" zone=Berlin`;
  expect(await ask(berlin, 'must name a place or UTC, not “Berlin”')).toContain(
    'zone=Europe/Berlin',
  );
  await sandbox.slack.command(ANA, 'ops', `${line} stop="fri 20:00" zone=qqqqqqq`);
  await sandbox.modal(ANA, 'service.schedule');
  const form = JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1)?.blocks);
  expect(form).toContain('must name a place or UTC, not “qqqqqqq”');
  await ask('/service schedule pause staging', 'staging has no schedule');
  expect(sandbox.cloud.count('set state')).toBe(0);
});
