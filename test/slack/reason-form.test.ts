import { expect, test } from 'vitest';
import type { Change, ChannelId, UserId } from '../../src/domain/change.ts';
import { createPlaces } from '../../src/slack/place.ts';
import {
  type ReasonFormKind,
  readReasonFormMetadata,
  reasonForm,
  writeReasonFormMetadata,
} from '../../src/slack/reason-form.ts';
import { linesOf } from '../contracts/message-lines.ts';
import { changeIn, minutes, PLAN } from '../domain/changes-fixtures.ts';
import { drawing } from './fixtures.ts';

const FROM = { commands: drawing.commands, metadata: '{}' };

function shown(kind: ReasonFormKind, over: Partial<Change> = {}) {
  const view = reasonForm(kind, changeIn('unknown', over), FROM);
  const blocks = [{ type: 'header', text: 'title' in view ? view.title : null }, ...view.blocks];
  return linesOf(blocks.map((block) => ({ ...block })));
}

const seen = { text: 'running', at: minutes(2) };
const followUp = { gap: null, candidates: [], revision: 1 } as const;
const read = { ...followUp, state: 'open', seen, why: 'not-as-requested' } as const;

test.for<[ReasonFormKind, string, string]>([
  ['happened', 'It was stopped', 'Signalbox records that the change was applied.'],
  ['did-not-happen', 'It was not stopped', 'Signalbox records that the change was not applied.'],
])(
  'the dialog of an answer about an unknown outcome says what it does: %s',
  ([kind, title, fact]) => {
    expect(shown(kind)).toEqual([
      title,
      'Stop analytics-prod (K3M9QD)',
      `${fact} Other changes of analytics-prod can run again.`,
      'Signalbox does not send the request again.',
      'What did you find?  []',
    ]);
  },
);

test('the dialog about an unknown outcome shows the state that the server reports', () => {
  const text = shown('did-not-happen', { followUp: read }).join('\n');
  expect(text).toContain('Server shows  running (checked [2026-11-20T12:02:00.000Z])');
  expect(text).toContain('The request may still be applied.');
});

const LATE = { answeredAt: minutes(9), status: null, text: 'stopping' };

test('a late answer is the note of the answer that it speaks for, so that one press settles it', () => {
  const accepted = { lateAnswer: { ...LATE, as: 'succeeded' } } as const;
  const note = 'What did you find?  [Late answer: the server accepted it: stopping]';
  expect(shown('happened', accepted)).toContain(note);
  expect(shown('did-not-happen', accepted)).toContain('What did you find?  []');
  const refused = { lateAnswer: { ...LATE, as: 'failed', status: 409, text: 'BUSY' } } as const;
  expect(shown('did-not-happen', refused).at(-1)).toContain('the server rejected it: 409 BUSY');
  const lost = { lateAnswer: { ...LATE, as: 'unknown' } } as const;
  for (const kind of ['happened', 'did-not-happen'] as const) {
    expect(shown(kind, lost)).toContain('What did you find?  []');
  }
});

test('the dialog says when the revert runs, for the answer after which it does', () => {
  const revert = { afterMs: 4 * 3_600_000, label: 'Start it again', line: '' };
  const over = { plan: { ...PLAN, timing: { startAt: null, revert } } };
  expect(shown('happened', over)).toContain('Its revert runs 4 h after the request.');
  expect(shown('did-not-happen', over).join()).not.toContain('revert');
});

test.for(['reject', 'review', 'break-glass'] as const)(
  'the dialog of %s has no outcome',
  (kind) => {
    expect(shown(kind, { followUp: read }).join()).not.toMatch(/Server shows|Signalbox records/);
  },
);

const places = createPlaces([Buffer.alloc(32, 1)]);
const by = 'UBEN' as UserId;
const form = { kind: 'reject', by } as const;
const at = { channel: 'C1' as ChannelId, ts: '1.2' };
const about = {
  ...{ change: 'K3M9QD' as Change['id'], home: false, preview: null },
  place: { kind: 'message', at, thread: null } as const,
  seen: { version: 2, hash: 'a'.repeat(43) },
};

test('a form keeps where its button was, for the user for whom it was opened', () => {
  const text = writeReasonFormMetadata(places, form, about);
  expect(readReasonFormMetadata(places, form, text)).toEqual(about);
  const unknown = { ...about, place: { kind: 'unknown' }, seen: null };
  for (const other of [{ ...form, by: 'UCLEO' as UserId }, { ...form, kind: 'review' } as const]) {
    expect(readReasonFormMetadata(places, other, text)).toEqual(unknown);
  }
  const seen = { version: 3, hash: 'b'.repeat(43) };
  const changed = JSON.stringify({ ...JSON.parse(text), seen });
  expect(readReasonFormMetadata(places, form, changed)).toEqual(unknown);
  expect(readReasonFormMetadata(places, form, 'x')).toBeNull();
});
