import { type AttackName, attack } from './attacks.ts';
import { model } from './model.ts';
import type { Promised } from './oracle.ts';
import { type Rules, WITNESS } from './rules.ts';
import { interleave, type Split } from './two-primaries.ts';
import { EVERYTHING, HANDS, HONEST, ROLLBACKS, walk } from './walk.ts';

/** The place where the model without a rule breaks a promise. */
export interface Mutant {
  readonly place: Place;
  readonly seed: number;
  readonly breaks: Promised | 'never sent';
  /** The rule is a second line of defence behind this one: only without both the promise breaks. */
  readonly behind: Rule | null;
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
  postNote: at('two primaries: approved', 1, 'sent twice'),
  readBack: at('two primaries: approved', 4, 'sent twice'),
  seeNotes: at('two primaries: approved', 4, 'sent twice'),
  seeCard: at('attack: a lost end', 1, 'sent after an end', 'endNote'),
  earlierWins: at('two primaries: approved', 15, 'never sent'),
  compareHash: at('attack: a lost end', 1, 'sent after an end'),
  judgeByClaim: at('attack: an answered note', 1, 'sent twice'),
  failureIsNotSent: at('two primaries: approved, slow Slack', 9, 'sent twice'),
  withinLease: at('walk: honest', 305, 'sent after an end'),
  commitAnswered: at('walk: everything', 18, 'false alarm'),
  readBeforeDraw: at('attack: a lost end before a drawing', 1, 'sent after an end', 'endNote'),
  drawnIfRead: at('attack: a late drawing', 1, 'stuck', 'scanDaily'),
  scanAtStart: at('walk: everything', 78, 'sent in a freeze'),
  scanNewTimeline: at('attack: a freeze lost in a failover', 1, 'sent in a freeze'),
  scanLostConnection: at('attack: a freeze lost in a restore', 1, 'sent in a freeze'),
  scanGoneEnd: at('attack: a freeze lost without a sign', 1, 'sent in a freeze'),
  scanDaily: at('walk: everything', 200, 'stuck'),
  scanPages: at('walk: everything', 54, 'stuck'),
  scanAudit: at('attack: a lost change with a deleted card', 1, 'sent twice'),
  scanThreads: at('attack: two primaries during an attempt', 1, 'sent after an end'),
  scanFirst: at('walk: everything', 23, 'sent for a paused schedule', 'readBeforeDraw'),
  answerMarks: at('attack: a lost claim', 1, 'stuck'),
  endForeign: at('two primaries: approved', 1, 'sent twice'),
  executingIsUnknown: at('attack: two primaries during an attempt', 1, 'sent after an end'),
  foreignFreeze: at('attack: a freeze lost in a failover', 1, 'sent in a freeze'),
  pauseLost: at('walk: rollbacks', 19, 'sent for a paused schedule'),
  drawLost: at('walk: everything', 1, 'stuck'),
  memory: at('attack: a freeze lost without a sign', 1, 'sent in a freeze'),
  damagedStops: at('walk: a deleted event', 587, 'sent to a locked target'),
  slackFirst: at('attack: an outage of Slack', 1, 'events in an outage'),
  unreadableStops: at('walk: rollbacks', 157, 'sent in a freeze'),
  scheduleNote: at('walk: everything', 595, 'sent twice'),
  freezePosted: at('attack: a freeze lost in a failover', 1, 'sent in a freeze'),
  digestSearch: at('walk: everything', 1, 'digest posted twice'),
  auditLine: at('walk: honest', 36, 'no line in the audit channel'),
  tellAfterCard: at('walk: everything', 461, 'sent after an end'),
  pressBlocksClaim: at('attack: a cancellation before the claim', 1, 'sent after an end'),
  endNote: at('attack: a lost end and a late drawing', 1, 'sent after an end'),
  firstCard: at('two primaries: requested', 4, 'sent twice'),
  noteIsUnknown: at('attack: a lost claim', 1, 'sent after an end'),
};

function at(
  place: Place,
  seed: number,
  breaks: Mutant['breaks'],
  behind: Rule | null = null,
): Mutant {
  return { place, seed, breaks, behind };
}

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
