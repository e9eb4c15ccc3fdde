import { z } from 'zod';
import { costOffer, unclearAnswer } from '../cost-reports/question/cost-question.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const MOST_DAYS = 200;
const ASKED = /^(?<word>[a-z]+)?\s*(?:(?<count>\d{1,6})\s*(?<unit>d|days?|w|weeks?)?)?$/i;
const DEFAULT_DAYS = 60;

export const costAnomalies = queryCommand({
  name: 'cost anomalies',
  title: 'List unusual costs',
  summary: 'Show unusual costs',
  examples: ['cost anomalies', 'cost anomalies backtest 60d'],
  permission: 'organization:view',
  args: z.strictObject({
    words: textField(z.string().max(50, 'is too long: at most 50 characters'), {
      label: 'Question',
      rest: true,
    }),
  }),

  target: () => null,
  answer: async ({ words = '' }, { anomalies: watch }) => {
    const text = words.trim();
    if (text === '') return watch.anomalies();
    const { word, count, unit = 'd' } = ASKED.exec(text)?.groups ?? {};
    const days = Number(count ?? DEFAULT_DAYS) * (/^w/i.test(unit) ? 7 : 1);
    const isPossible = days >= 1 && days <= MOST_DAYS;
    if (word?.toLowerCase() === 'backtest' && isPossible) return watch.backtest(days);
    const near = Math.min(Math.max(days, 1), MOST_DAYS);
    return unclearAnswer(problemOf(text, days, word), [
      costOffer(`cost anomalies backtest ${near}d`),
    ]);
  },
});

function problemOf(text: string, days: number, word: string | undefined): string {
  if (word?.toLowerCase() !== 'backtest') {
    return `“${text}” is not understood here. Use “backtest” and a number of days, for example:`;
  }
  const amount = `“${text.slice(word.length).trim()}”`;
  return days < 1
    ? `${amount} is less than one day. For example:`
    : `${amount} is too long: at most ${MOST_DAYS} days. For example:`;
}
