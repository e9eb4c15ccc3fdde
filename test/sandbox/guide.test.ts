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

const REFUSAL = message(3, { ephemeralFor: ANA });

test.for<[string, Seen, readonly string[]]>([
  ['nothing', {}, []],
  [
    'a request and its card',
    { interactions: [[ANA, 'change.confirm', 1]], messages: { 'db-approvals': [message(1)] } },
    ['request'],
  ],
  ['a press without a card', { interactions: [[ANA, 'change.confirm', 1]] }, []],
  [
    'a card from before the start',
    { interactions: [[ANA, 'change.confirm', 1]], messages: { 'db-approvals': [message(-1)] } },
    [],
  ],
  [
    'a refused approval',
    { interactions: [[ANA, 'change.approve', 2]], messages: { 'db-approvals': [REFUSAL] } },
    ['refusal'],
  ],
  [
    'an approval of another user',
    { interactions: [[BEN, 'change.approve', 2]], messages: { 'db-approvals': [REFUSAL] } },
    [],
  ],
  [
    'a private message from before the press',
    { interactions: [[ANA, 'change.approve', 4]], messages: { 'db-approvals': [REFUSAL] } },
    [],
  ],
  ['a write on the server', { effects: [1] }, ['approve']],
  ['a write of the history', { effects: [-1] }, []],
  ['an opened form about an unknown outcome', { interactions: [[BEN, 'change.happened', 1]] }, []],
  [
    'an answer to an unknown outcome',
    { interactions: [[BEN, 'submit change.happened', 1]] },
    ['unknown'],
  ],
  [
    'a question about costs and a digest',
    { interactions: [[ANA, '/cost', 1]], messages: { 'db-costs': [message(2)] } },
    ['costs'],
  ],
  [
    'a question about costs and a reply in a thread',
    {
      interactions: [[ANA, '/cost', 1]],
      messages: { 'db-costs': [message(2, { threadTs: '1' })] },
    },
    [],
  ],
  [
    'a request in words that is confirmed and applied',
    {
      interactions: [
        [ANA, 'slackbot.allow', 1],
        [ANA, 'change.confirm', 2],
      ],
      effects: [3],
    },
    ['approve', 'ask'],
  ],
  [
    'a request in words that another user confirms',
    {
      interactions: [
        [ANA, 'slackbot.allow', 1],
        [BEN, 'change.confirm', 2],
      ],
      effects: [3],
    },
    ['approve'],
  ],
  [
    'a request in words that is applied before it is confirmed',
    {
      interactions: [
        [ANA, 'slackbot.allow', 1],
        [ANA, 'change.confirm', 2],
      ],
      effects: [1],
    },
    ['approve'],
  ],
])('the guide after %s', ([, seen, done]) => {
  expect(doneAfter(seen)).toEqual(done);
});
