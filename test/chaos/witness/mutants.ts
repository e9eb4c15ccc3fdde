import { type AttackName, attack } from './attacks.ts';
import { model } from './model.ts';
import type { Promised } from './oracle.ts';
import { type Rules, WITNESS } from './rules.ts';
import { interleave, type Split } from './two-primaries.ts';
import { EVERYTHING, HANDS, HONEST, ROLLBACKS, walk } from './walk.ts';

/** The place where the model without a rule breaks a promise. */
export interface Mutant {
  readonly in: Place;
  readonly seed: number;
  readonly breaks: Promised | 'never sent';
  /** The rule is a second line of defence behind this one: only without both the promise breaks. */
  readonly behind?: Rule;
}

export type Rule = Exclude<keyof Rules, 'register'>;

const WALKS = {
  'walk: honest': HONEST,
  'walk: rollbacks': ROLLBACKS,
  'walk: everything': EVERYTHING,
  'walk: a deleted event': HANDS,
};

const SPLITS = {
  'two primaries: approved': { moment: 'approved', faults: 0 },
  'two primaries: approved, slow Slack': { moment: 'approved', faults: 0.3 },
  'two primaries: requested': { moment: 'requested', faults: 0 },
} satisfies Record<string, Split>;

export type Place = keyof typeof WALKS | keyof typeof SPLITS | `attack: ${AttackName}`;

/** Each rule, and the first known seed that finds that it is missing. */
export const MUTANTS: Readonly<Record<Rule, Mutant>> = {
  postNote: { in: 'two primaries: approved', seed: 1, breaks: 'sent twice' },
  readBack: { in: 'two primaries: approved', seed: 4, breaks: 'sent twice' },
  seeNotes: { in: 'two primaries: approved', seed: 4, breaks: 'sent twice' },
  seeCard: { in: 'attack: a lost end', seed: 1, breaks: 'sent after an end', behind: 'endNote' },
  earlierWins: { in: 'two primaries: approved', seed: 15, breaks: 'never sent' },
  compareHash: { in: 'attack: a lost end', seed: 1, breaks: 'sent after an end' },
  judgeByClaim: { in: 'attack: an answered note', seed: 1, breaks: 'sent twice' },
  failureIsNotSent: { in: 'two primaries: approved, slow Slack', seed: 9, breaks: 'sent twice' },
  withinLease: { in: 'walk: honest', seed: 305, breaks: 'sent after an end' },
  commitAnswered: { in: 'walk: everything', seed: 18, breaks: 'false alarm' },
  readBeforeDraw: {
    ...{ in: 'attack: a lost end before a drawing', seed: 1, breaks: 'sent after an end' },
    behind: 'endNote',
  },
  drawnIfRead: { in: 'attack: a late drawing', seed: 1, breaks: 'stuck', behind: 'scanDaily' },
  scanAtStart: { in: 'walk: everything', seed: 78, breaks: 'sent in a freeze' },
  scanNewTimeline: {
    ...{ in: 'attack: a freeze lost in a failover', seed: 1, breaks: 'sent in a freeze' },
  },
  scanLostConnection: {
    ...{ in: 'attack: a freeze lost in a restore', seed: 1, breaks: 'sent in a freeze' },
  },
  scanGoneEnd: {
    ...{ in: 'attack: a freeze lost without a sign', seed: 1, breaks: 'sent in a freeze' },
  },
  scanDaily: { in: 'walk: everything', seed: 200, breaks: 'stuck' },
  scanPages: { in: 'walk: everything', seed: 54, breaks: 'stuck' },
  scanAudit: {
    ...{ in: 'attack: a lost change with a deleted card', seed: 1, breaks: 'sent twice' },
  },
  scanThreads: { in: 'walk: everything', seed: 323, breaks: 'sent after an end' },
  scanFirst: { in: 'walk: everything', seed: 312, breaks: 'sent after an end' },
  answerMarks: { in: 'walk: everything', seed: 3, breaks: 'stuck' },
  endForeign: { in: 'two primaries: approved', seed: 1, breaks: 'sent twice' },
  executingIsUnknown: {
    ...{ in: 'attack: two primaries during an attempt', seed: 1, breaks: 'sent after an end' },
  },
  foreignFreeze: { in: 'walk: everything', seed: 165, breaks: 'sent in a freeze' },
  drawLost: { in: 'walk: everything', seed: 1, breaks: 'stuck' },
  memory: { in: 'attack: a freeze lost without a sign', seed: 1, breaks: 'sent in a freeze' },
  damagedStops: { in: 'walk: a deleted event', seed: 118, breaks: 'sent to a locked target' },
  slackFirst: { in: 'attack: an outage of Slack', seed: 1, breaks: 'events in an outage' },
  unreadableStops: { in: 'walk: rollbacks', seed: 157, breaks: 'sent in a freeze' },
  scheduleNote: { in: 'walk: everything', seed: 23, breaks: 'sent twice' },
  freezePosted: { in: 'walk: everything', seed: 15, breaks: 'sent in a freeze' },
  digestSearch: { in: 'walk: everything', seed: 1, breaks: 'digest posted twice' },
  auditLine: { in: 'walk: honest', seed: 32, breaks: 'no line in the audit channel' },
  tellAfterCard: { in: 'walk: everything', seed: 461, breaks: 'sent after an end' },
  pressBlocksClaim: {
    ...{ in: 'attack: a cancellation before the claim', seed: 1, breaks: 'sent after an end' },
  },
  endNote: {
    ...{ in: 'attack: a lost end and a late drawing', seed: 1, breaks: 'sent after an end' },
  },
  firstCard: { in: 'two primaries: requested', seed: 4, breaks: 'sent twice' },
  noteIsUnknown: { in: 'attack: a lost claim', seed: 1, breaks: 'sent after an end' },
};

/** The promises that the model without these rules breaks there. */
export async function brokenWithout(
  rules: readonly Rule[],
  place: Place,
  seed: number,
): Promise<readonly string[]> {
  const kind = model({ ...WITNESS, ...Object.fromEntries(rules.map((rule) => [rule, false])) });
  const promises = (broken: readonly { readonly promise: string }[]) =>
    broken.map(({ promise }) => promise);
  if (isKey(WALKS, place)) return promises((await walk(seed, kind, WALKS[place])).broken);
  if (isKey(SPLITS, place)) {
    const sent = await interleave(seed, kind, SPLITS[place]);
    if (sent > 1) return ['sent twice'];
    // With a slow Slack it is right that nobody sends.
    return sent === 0 && SPLITS[place].faults === 0 ? ['never sent'] : [];
  }
  return promises(await attack(place.slice('attack: '.length) as AttackName, seed, kind));
}

function isKey<T extends object>(table: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(table, key);
}
