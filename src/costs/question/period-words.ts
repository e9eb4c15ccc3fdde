import type { Day } from '../../base/time.ts';
import { type PeriodReading, readPeriod } from './period.ts';
import { isPeriodLike } from './period-grammar.ts';

const MOST_WORDS = 3;
/** Periods in other units than days and weeks are invalid and are refused as a whole. */
const OTHER_UNIT = /^(?:last-)?\d{1,5}-(?:hours?|months?|quarters?|years?)$/i;
const TO = ['to', 'until', 'till', '-', '..', '...', '…'];

/** The first words as a period, valid or not; null if they do not have the form of a period. */
export function periodAt(
  words: readonly string[],
  today: Day,
): { readonly reading: PeriodReading; readonly taken: number } | null {
  for (let taken = Math.min(MOST_WORDS, words.length); taken > 1; taken -= 1) {
    const word = joined(words.slice(0, taken));
    const reading = readPeriod(word, today);
    const isWhole = reading.ok || reading.problem !== 'unknown-words' || OTHER_UNIT.test(word);
    if (isWhole) return { reading, taken };
  }
  const [word = ''] = words;
  const reading = readPeriod(word, today);
  return reading.ok || isPeriodLike(word) ? { reading, taken: 1 } : null;
}

/** `last 7 days` becomes `last-7-days`, and `2026-11-05 to 2026-11-10` a range. */
function joined([first = '', second = '', ...rest]: readonly string[]): string {
  const isRange = TO.includes(second.toLowerCase()) && rest.length > 0;
  return isRange ? `${first}..${rest.join('-')}` : [first, second, ...rest].join('-');
}
