import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import type { Change, ChangeId, ChannelId, Position } from '../../src/domain/change.ts';
import { createPreviewLinks } from '../../src/slack/links.ts';
import { changeIn } from '../domain/changes-fixtures.ts';

const CARD: Position = { channel: 'C0APPROVALS' as ChannelId, ts: '1795372240.856000' };

function previews() {
  const links = createPreviewLinks(createLog({ level: 'silent' }));
  const shown: Change[] = [];
  const add = (id: string) =>
    links.add({ ...changeIn('pending'), id: id as ChangeId }, async (change) => {
      shown.push(change);
    });
  return { add, shown, posted: (id: string) => links.cardPosted(id as ChangeId, CARD) };
}

test('a preview is shown again once, with the posted card', () => {
  const { add, shown, posted } = previews();
  add('7KQ2MX');
  posted('K3M9QD');
  expect(shown).toEqual([]);
  posted('7KQ2MX');
  posted('7KQ2MX');
  expect(shown).toMatchObject([{ id: '7KQ2MX', card: CARD }]);
});

test('at most 500 previews wait for their cards, and the oldest is dropped', () => {
  const { add, shown, posted } = previews();
  for (let n = 0; n <= 500; n += 1) add(`A${n}`);
  posted('A0');
  expect(shown).toEqual([]);
  posted('A1');
  expect(shown).toHaveLength(1);
});
