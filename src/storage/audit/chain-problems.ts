import type { ChainProblem } from './chain.ts';

/** What people read of a broken chain: what is wrong, and what it may come from. */
const SENTENCES: Readonly<Record<ChainProblem, (seq: number) => string>> = {
  'event-missing': (seq) => `Event ${seq} is missing: it was removed, or its number was changed.`,
  'link-broken': (seq) =>
    `Event ${seq} does not follow the one before it: something was put in, moved or taken out.`,
  unreadable: (seq) => `Event ${seq} cannot be read: what was written there was overwritten.`,
  'columns-changed': (seq) =>
    `Event ${seq} says something else in its columns than in what was written: they were edited.`,
  'other-key': (seq) => `Event ${seq} was not written with this SIGNALBOX_KEY.`,
  'body-changed': (seq) => `Event ${seq} is not as it was written: its text or hash was edited.`,
  'head-differs': (seq) =>
    `The trail does not end where its head says, from event ${seq} on: its end was cut or added to.`,
  'anchor-differs': (seq) =>
    `Event ${seq} is not the one that was noted elsewhere: the trail was cut and grown anew, ` +
    'or an older copy of the database was restored.',
};

export function problemSentence(problem: ChainProblem, seq: number): string {
  return SENTENCES[problem](seq);
}
