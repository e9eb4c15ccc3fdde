import { expect, test } from 'vitest';
import { readOptions } from '../../bench/options.ts';

test.for<[string, string[], string]>([
  ['no rate', ['--rate', '0'], '--rate must be a whole number from 1 to 5000 (you said 0)'],
  ['half a round', ['--rounds', '1.5'], '--rounds'],
  ['longer than a signature is good', ['--seconds', '121'], '--seconds'],
  ['words for numbers', ['--rate', 'many'], 'you said many'],
  ['a flag that is not there', ['--rat', '300'], '--rat'],
])('%s is refused', ([, args, words]) => {
  expect(() => readOptions(args)).toThrow(words);
});
