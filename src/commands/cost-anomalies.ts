import { z } from 'zod';
import { costOffer, unclearAnswer } from '../cost-reports/cost-question.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const MOST_DAYS = 200;
const ASKED = /^(?<word>[a-z]+)?\s*(?:(?<count>\d{1,6})\s*(?<unit>d|days?|w|weeks?)?)?$/i;
const DEFAULT_DAYS = 60;

export const costAnomalies = queryCommand({
  name: 'cost anomalies',
  summary: 'Show unusual costs',
  examples: ['cost anomalies', 'cost anomalies backtest 60d'],
  args: z.strictObject({
    words: textField(z.string().max(50, 'is too long: at most 50 characters'), {
      label: 'Question',
      rest: true,
    }),
  }),

  target: () => null,
  answer: async ({ words = '' }, { anomalies: watch }) => {
    const said = words.trim();
    if (said === '') return watch.anomalies();
    const { word, count, unit = 'd' } = ASKED.exec(said)?.groups ?? {};
    const days = Number(count ?? DEFAULT_DAYS) * (/^w/i.test(unit) ? 7 : 1);
    const isPossible = days >= 1 && days <= MOST_DAYS;
    if (word?.toLowerCase() === 'backtest' && isPossible) return watch.backtest(days);
    const near = Math.min(Math.max(days, 1), MOST_DAYS);
    return unclearAnswer(problemOf(said, days, word), [
      costOffer(`cost anomalies backtest ${near}d`),
    ]);
  },
});

function problemOf(said: string, days: number, word: string | undefined): string {
  if (word?.toLowerCase() !== 'backtest') {
    return `“${said}” is not understood here. Use “backtest” and a number of days, for example:`;
  }
  const amount = `“${said.slice(word.length).trim()}”`;
  return days < 1
    ? `${amount} is less than one day. For example:`
    : `${amount} is too long: at most ${MOST_DAYS} days. For example:`;
}
