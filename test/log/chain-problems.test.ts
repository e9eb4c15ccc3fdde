import { expect, test } from 'vitest';
import type { ChainProblem } from '../../src/log/old/chain.ts';
import { problemSentence } from '../../src/log/old/chain-problems.ts';

const PROBLEMS: Readonly<Record<ChainProblem, RegExp>> = {
  'event-missing': /missing/,
  'link-broken': /does not follow/,
  unreadable: /cannot be read/,
  'columns-changed': /columns/,
  'other-key': /not signed with this SIGNALBOX_KEY/,
  'key-replaced': /another key.*no key-change event permits it/,
  'body-changed': /does not match its hash/,
  'head-differs': /does not end at its head/,
  'archive-differs': /checkpoint.*inserted again/,
  'anchor-differs': /anchor.*restored/,
};

test.for(Object.entries(PROBLEMS) as [ChainProblem, RegExp][])(
  'the problem %s is reported with the number of its event and the probable cause',
  ([problem, words]) => {
    const sentence = problemSentence(problem, 1_234);
    expect(sentence).toMatch(words);
    expect(sentence).toContain('vent 1234');
    expect(sentence).toMatch(/[:,] .*\.$/);
  },
);
