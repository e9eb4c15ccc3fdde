import { expect, test } from 'vitest';
import { guideProgress } from '../../sandbox/guide/guide.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { ANA, BEN, NOON } from '../harness/users.ts';

const tsAt = (minute: number) => String(NOON.getTime() / 1000 + minute * 60);
const dateAt = (minute: number) => new Date(NOON.getTime() + minute * 60_000);

function message(minute: number, more: Partial<StoredMessage> = {}): StoredMessage {
  return {
    ...{ channel: 'C1', ts: tsAt(minute), threadTs: null, author: 'U0SIGNALBOX', byBot: true },
    ...{ text: '', blocks: [], metadata: undefined, fileIds: [], updatedTs: null },
    ephemeralFor: null,
    ...more,
  };
}

interface Seen {
  readonly interactions?: readonly (readonly [person: string, name: string, minute: number])[];
  readonly messages?: Readonly<Record<string, readonly StoredMessage[]>>;
  readonly effects?: readonly number[];
}

function doneAfter({ interactions = [], messages = {}, effects = [] }: Seen) {
  const sources = {
    interactions: () =>
      interactions.map(([person, name, minute]) => ({ person, name, at: dateAt(minute) })),
    messages: (channel: string) => messages[channel] ?? [],
    effects: () => effects.map((minute) => ({ at: dateAt(minute).toISOString() })),
  };
  return guideProgress(sources, NOON).done;
}

const card = (minute: number) => ({ messages: { 'db-approvals': [message(minute)] } });
const CONFIRMED: Seen = { interactions: [[ANA, 'change.confirm', 1]] };
const refused = (by: string, minute: number): Seen => ({
  interactions: [[by, 'change.approve', minute]],
  messages: { 'db-approvals': [message(3, { ephemeralFor: ANA })] },
});
const happened = (name: string): Seen => ({ interactions: [[BEN, name, 1]] });
const asked = (more: Partial<StoredMessage>): Seen => ({
  interactions: [[ANA, '/cost', 1]],
  messages: { 'db-costs': [message(2, more)] },
});
/** In words, and confirmed by this user two minutes after the start. */
const inWords = (by: string, applied: number): Seen => ({
  interactions: [
    [ANA, 'slackbot.allow', 1],
    [by, 'change.confirm', 2],
  ],
  effects: [applied],
});

test.for<[string, Seen, readonly string[]]>([
  ['nothing', {}, []],
  ['a request and its card', { ...CONFIRMED, ...card(1) }, ['request']],
  ['a press without a card', CONFIRMED, []],
  ['a card from before the start', { ...CONFIRMED, ...card(-1) }, []],
  ['a refused approval', refused(ANA, 2), ['refusal']],
  ['an approval of another user', refused(BEN, 2), []],
  ['a private message from before the press', refused(ANA, 4), []],
  ['a write on the server', { effects: [1] }, ['approve']],
  ['a write of the history', { effects: [-1] }, []],
  ['an opened form about an unknown outcome', happened('change.happened'), []],
  ['an answer to an unknown outcome', happened('submit change.happened'), ['unknown']],
  ['a question about costs and a digest', asked({}), ['costs']],
  ['a question about costs and a reply in a thread', asked({ threadTs: '1' }), []],
  ['a request in words that is confirmed and applied', inWords(ANA, 3), ['approve', 'ask']],
  ['a request in words that another user confirms', inWords(BEN, 3), ['approve']],
  ['a request in words that is applied before', inWords(ANA, 1), ['approve']],
])('the guide after %s', ([, seen, done]) => {
  expect(doneAfter(seen)).toEqual(done);
});
