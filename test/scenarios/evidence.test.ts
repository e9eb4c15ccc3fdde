import { expect, test } from 'vitest';
import { approve, CREATE, passUntil, STOP, startExtended } from '../harness/following.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { threadText } from '../harness/requests.ts';
import { ANA } from '../harness/users.ts';

test('an unanswered stop that took effect is settled by evidence', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
  await approve(sandbox, STOP, 'Stop staging', 'outcome unknown');
  const card = await passUntil(sandbox, 'Stop staging: it was ', 'Settled by evidence');
  expect(buttonsOf(card)).toEqual(['change.undo', 'change.details']);
  const below = () => threadText(sandbox, card.ts);
  await expect.poll(below).toContain('was applied: the server shows');
  expect(sandbox.cloud.count('set state')).toBe(1);
  await sandbox.ask(ANA, '/change log', 'read that the server applied');
});

test('an unanswered creation lists what was created since, and a person decides', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.injectFault({ operation: 'create service', fault: 'reset-after-effect', times: 1 });
  await approve(sandbox, CREATE, 'Create service analytics new', 'outcome unknown');
  const title = 'Create service analytics new: outcome unknown';
  const card = await passUntil(sandbox, title, 'Candidate');
  expect(textOf(card)).toContain('“analytics new” · ');
  expect(textOf(card)).toContain('a person decides');
  expect(buttonsOf(card)).toEqual(['change.happened', 'change.did-not-happen', 'change.details']);
});
