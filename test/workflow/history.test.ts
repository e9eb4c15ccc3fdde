import { expect, test } from 'vitest';
import type { Answer } from '../../src/domain/answer.ts';
import type { UserId } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { answerChangeLog } from '../../src/workflow/old/change-log.ts';
import { NOON } from '../harness/users.ts';
import { freshDatabase } from '../storage/engines.ts';

const ANYTHING = {
  ...{ by: null, command: null, target: null, state: null, since: null, until: null },
  before: null,
};
const ASKER = { by: 'U1' as UserId, zone: null } as never;
const EVENTS = 2_600;

async function logOf(command: string | null): Promise<Answer> {
  const database = await freshDatabase('sqlite');
  await database.transaction(async (tx) => {
    for (let n = 0; n < EVENTS; n += 1) {
      const body = { by: 'U1', refusal: 'not-allowed', command: 'service stop', target: 'staging' };
      await appendEvent(tx, null, { kind: 'refused', at: NOON, body });
    }
  });
  const context = { database, now: () => NOON, commands: new Map() } as never;
  return answerChangeLog(context, { ...ANYTHING, command }, ASKER);
}

function noteOf({ parts }: Answer): string {
  return parts.flatMap((part) => (part.kind === 'note' ? part.text : [])).join();
}

test('a full page counts no more than 2,000 events', async () => {
  expect(noteOf(await logOf(null))).toContain('Searched the last 2000 events');
});

test('a search for rare events goes on after 2,000 events', async () => {
  const answer = await logOf('service start');
  expect(answer.title).toBe('0 events');
  expect(noteOf(answer)).not.toContain('Searched');
});
