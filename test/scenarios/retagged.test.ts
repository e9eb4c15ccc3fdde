import { expect, test } from 'vitest';
import { STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

interface File {
  readonly services: readonly { readonly id: string; readonly tags: readonly string[] }[];
}

/** The configuration file, in which staging has the tag `prod`. */
const retagged = ((file: File) => ({
  ...file,
  services: file.services.map((one) => (one.id === STAGING ? { ...one, tags: ['prod'] } : one)),
})) as never;

const WHY = 'The tags or the warehouse of staging changed or are unknown now';

test('a draft whose target was re-tagged cannot be confirmed', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  expect(await sandbox.reload(retagged)).toEqual({ ok: true });
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.privateMessage(ANA, WHY);
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});
