import { z } from 'zod';
import { DayTextSchema, quoted, strictConfigObject, withHint } from '../base/problem.ts';

const MOST_DECIMALS = 6;
const MILLION = 10 ** MOST_DECIMALS;

const PerCredit = z
  .number()
  .positive()
  .max(MILLION)
  .refine((price) => /^-?\d+(\.\d{1,6})?$/.test(String(price)), {
    error: withHint(`must have at most ${MOST_DECIMALS} decimals`, 'for example 0.35'),
  });

const Currency = z.string().refine((code) => Intl.supportedValuesOf('currency').includes(code), {
  abort: true,
  error: ({ input }) =>
    withHint(`is not a currency: ${quoted(String(input))}`, 'a code of ISO 4217, for example EUR'),
});

const Price = strictConfigObject({ perCredit: PerCredit, currency: Currency, from: DayTextSchema });

const Prices = z
  .array(Price)
  .min(1)
  .superRefine((all, context) => {
    all.forEach(({ currency, from }, index) => {
      const issue = (key: string, message: string) =>
        context.addIssue({ code: 'custom', path: [index, key], message });
      const [first] = all;
      if (first && currency !== first.currency) {
        const hint = 'one currency only: sums cannot mix currencies';
        issue('currency', withHint(`differs from costs.price[0]: ${first.currency}`, hint));
      }
      const earlier = all.findIndex((one) => one.from === from);
      if (earlier < index)
        issue('from', `repeats ${from} (already used at costs.price[${earlier}])`);
    });
  })
  .transform((all) =>
    all
      .map(({ perCredit, ...rest }) => ({ ...rest, perCredit: Math.round(perCredit * MILLION) }))
      .toSorted((a, b) => (a.from < b.from ? -1 : 1)),
  );

/** `price`: the prices in millionths of the currency, the earliest first; null: no money is shown. */
export const Costs = strictConfigObject({ price: Prices.optional() })
  .default({})
  .transform(({ price = null }) => ({ price }));
