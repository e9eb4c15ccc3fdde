import type { ChainProblem } from './chain.ts';

/** What is wrong with the chain, and what may have caused it. */
const SENTENCES: Readonly<Record<ChainProblem, (seq: number) => string>> = {
  'event-missing': (seq) => `Event ${seq} is missing: it was deleted, or its number was changed.`,
  'link-broken': (seq) =>
    `Event ${seq} does not follow the previous one: an event was inserted, moved or deleted.`,
  unreadable: (seq) => `Event ${seq} cannot be read: it was overwritten.`,
  'columns-changed': (seq) =>
    `Event ${seq} has columns that differ from its body: they were modified.`,
  'other-key': (seq) =>
    `Event ${seq} was not signed with this SIGNALBOX_KEY, nor with a previous key.`,
  'key-replaced': (seq) =>
    `Event ${seq} is signed with another key than its place in the trail requires: ` +
    'no key-change event permits it.',
  'body-changed': (seq) =>
    `Event ${seq} does not match its hash: its body or its hash was modified.`,
  'head-differs': (seq) =>
    `The trail does not end at its head, from event ${seq} on: events were deleted or added.`,
  'archive-differs': (seq) =>
    `The archived part up to event ${seq} differs from its checkpoint: an event that was kept is ` +
    'modified or missing, or a deleted one was inserted again.',
  'anchor-differs': (seq) =>
    `Event ${seq} differs from the stored anchor: the trail was cut and continued, ` +
    'or an older copy of the database was restored.',
};

export function problemSentence(problem: ChainProblem, seq: number): string {
  return SENTENCES[problem](seq);
}
