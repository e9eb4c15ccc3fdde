import { z } from 'zod';
import { textField } from '../intent/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const MOST_DAYS = 200;
const ASKED = /^backtest(?:\s+(?<days>\d{1,3})d)?$/i;
const DEFAULT_DAYS = 60;

export const costAnomalies = queryCommand({
  name: 'cost anomalies',
  summary: 'Show costs that are out of the ordinary',
  examples: ['cost anomalies', 'cost anomalies backtest 60d'],
  args: z.strictObject({
    words: textField(z.string().max(50, 'is too long'), { label: 'backtest and days', rest: true }),
  }),

  target: () => null,
  answer: async ({ words = '' }, { watch }) => {
    const said = words.trim();
    if (said === '') return watch.anomalies();
    const asked = ASKED.exec(said);
    const days = Number(asked?.groups?.days ?? DEFAULT_DAYS);
    if (asked && days >= 1 && days <= MOST_DAYS) return watch.backtest(days);
    const text = asked
      ? `${days} days are not possible: from 1 to ${MOST_DAYS}.`
      : `I do not understand “${said}”.`;
    const line = 'cost anomalies backtest 60d';
    return {
      title: 'That is not clear',
      parts: [
        { kind: 'text', text: `${text} For example:` },
        { kind: 'offers', offers: [{ label: line, line }] },
      ],
    };
  },
});
