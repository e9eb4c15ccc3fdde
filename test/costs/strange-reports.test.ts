import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { type CommandContext, commands, parseLine } from '../../src/commands/index.ts';
import { answerCosts, answerCsv } from '../../src/costs/answer.ts';
import { answerForecast } from '../../src/costs/forecast.ts';
import { answerWhy } from '../../src/costs/why.ts';
import { type Answer, textAnswer } from '../../src/domain/answer.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import { problemsOf } from '../../src/maths/report.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { daily, row, warehouseRow } from '../maths/rows.ts';
import { ASKER, costContext } from './asking.ts';
import { costService } from './facts.ts';
import { written } from './written.ts';

type WhyContext = Parameters<typeof answerWhy>[1];

const COMMANDS: Readonly<Record<string, (words: string, context: WhyContext) => Promise<Answer>>> =
  {
    cost: (words, context) => answerCosts(words, context, ASKER),
    csv: (words, context) => answerCsv(words, context, ASKER),
    forecast: (words, context) => answerForecast(words, context, ASKER),
    why: (words, context) => answerWhy(words, context, ASKER),
  };

const PERIODS = [
  ...['', 'today', 'yesterday', '7d', '31d', '400d', '4w', 'this-week', 'last-week', 'mtd'],
  ...['last-month', 'qtd', 'ytd', '2024-02', '2026-02-27..'],
];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  cost: PERIODS,
  csv: PERIODS,
  why: PERIODS,
  forecast: ['', 'quarter', 'year'],
};
const REST = ['', 'by day', 'by month', 'by metric', 'by team', 'top 1', 'vs prev', 'final'];
/** First and last days of months, quarters and years, a leap day, and days of a changed clock. */
const TODAYS = ['2026-01-01', '2026-03-31', '2026-04-01', '2024-02-29', '2026-11-20', '2026-10-25'];

/** Refunds, zeros, tiny and huge costs; each day may be missing, and be final or not. */
interface StrangeDay {
  readonly ago: number;
  readonly credits: number;
  readonly locked: boolean;
  readonly settled: boolean;
  readonly isWarehouse: boolean;
}

const day: fc.Arbitrary<StrangeDay> = fc.record({
  ago: fc.nat(120),
  credits: fc.constantFrom(0, 0.000001, 0.004, 5, -5, -300, 20, 20, 1e9),
  locked: fc.boolean(),
  settled: fc.boolean(),
  isWarehouse: fc.boolean(),
});

const prices = fc.constantFrom<((today: string) => PriceList) | null>(
  null,
  (today) => [{ from: addDays(today, -10), currency: 'EUR', perCredit: 1 }],
  (today) => [
    { from: '2020-01-01', currency: 'JPY', perCredit: 320_000 },
    { from: addDays(today, -15), currency: 'JPY', perCredit: 999_999_999 },
    { from: addDays(today, 15), currency: 'JPY', perCredit: 1 },
  ],
);

const questions = fc
  .constantFrom(...Object.keys(COMMANDS))
  .chain((command) =>
    fc.tuple(
      fc.constant(command),
      fc.constantFrom(...(WORDS[command] ?? [])),
      fc.constantFrom(...(command === 'forecast' ? [''] : REST)),
    ),
  );

test('no report and no question gives an answer with an impossible figure', async () => {
  const cases = fc.record({
    question: questions,
    today: fc.constantFrom(...TODAYS),
    days: fc.array(day, { maxLength: 60 }),
    priceList: prices,
  });
  await fc.assert(
    fc.asyncProperty(
      cases,
      async ({ question: [command, period, rest], today, days, priceList }) => {
        const list = priceList?.(today) ?? null;
        const rows = withPrices(rowsOf(days, today), list);
        const ask = COMMANDS[command] ?? expect.fail(command);
        const answer = await ask(`${period} ${rest}`.trim(), contextOf(rows, today, list));
        const text = `${written(answer)}\n${JSON.stringify(answer.parts)}`;
        expect(text).not.toMatch(/NaN|Infinity|undefined|−0(?![.\d])|-0(?![.\d-])|[−+]±|\[object/);
        expect(text).not.toMatch(/ · · |\n · | · \n/);
        expect(answer.title).not.toMatch(/^ ·|· $/);
      },
    ),
    { numRuns: 600, endOnFailure: true },
  );
});

test.for([
  'cost yesterday',
  'cost mtd',
  'cost 7d vs prev',
  'cost last-week by day vs 2026-11-02..2026-11-08',
  'cost why 7d',
  'cost why yesterday',
  'cost forecast',
])(
  '“%s” with a row that could not be read has no figure for the sum and no change',
  async (line) => {
    const today = '2026-11-20';
    const days = Array.from({ length: 110 }, (_, ago) => ({ ago, credits: 20 }));
    const seen = { locked: true, settled: true, isWarehouse: false };
    const rows = rowsOf(
      days.map((one) => ({ ...one, ...seen })),
      today,
    );
    // The whole of yesterday, and a row of the week that others are compared with.
    const lost = ['2026-11-19', '2026-11-12', '2026-11-05'].map(
      (day) => ({ name: 'without-figures', day, count: 1 }) as const,
    );
    const context = contextOf(
      rows.filter((one) => one.day !== '2026-11-19'),
      today,
      null,
    );
    const costs: WhyContext['costs'] = async (span) => ({
      ...(await context.costs(span)),
      problems: problemsOf(lost, [span]),
    });
    const answer = await asked(line, { ...context, costs });
    expect(answer.title).toMatch(/: (not known|not compared|no forecast)/);
    expect(written(answer)).toContain('could not be read');
    expect(written(answer)).not.toMatch(/[−+]\d+%|has no data/);
  },
);

/** The lines of the buttons and menu entries, which all ask about costs. */
function offeredLines({ parts }: Answer): readonly string[] {
  return parts.flatMap((part) =>
    part.kind === 'offers' || part.kind === 'menu' ? part.offers.map(({ line }) => line) : [],
  );
}

const MISREAD = "I didn't understand that";

/** The answer to a line as it is typed after the slash. */
async function asked(line: string, context: CommandContext): Promise<Answer> {
  const { services } = context;
  const organizations = [{ id: 'o1', name: null, plan: 'paid', tier: 'scale' }] as const;
  const clock = { now: context.now(), zone: 'UTC' };
  const known = { commands, services, alerts: [], organizations, clock };
  const read = parseLine('cost', line.replace(/^cost ?/, ''), known);
  if (read.kind === 'misread') return textAnswer(MISREAD, read.sentence, read.offers);
  if (read.kind !== 'intent' || read.command.kind !== 'query') return expect.fail(line);
  return read.command.answer(read.args, context, ASKER);
}

/** An offered line must not be answered like this. */
const REFUSED = /didn't understand|is in the future|does not take/;

test('no button offers a question that is refused', async () => {
  const cases = fc.record({
    question: questions,
    today: fc.constantFrom(...TODAYS),
    days: fc.array(day, { maxLength: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ question: [command, period, rest], today, days }) => {
      const context = contextOf(rowsOf(days, today), today, null);
      const ask = COMMANDS[command] ?? expect.fail(command);
      const answer = await ask(`${period} ${rest}`.trim(), context);
      // A correction of a wrong word may leave another wrong word.
      if (answer.title === MISREAD) return;
      for (const line of offeredLines(answer))
        expect(written(await asked(line, context)), line).not.toMatch(REFUSED);
    }),
    { numRuns: 300, endOnFailure: true },
  );
});

const TYPED = [
  'cost',
  'cost average per day',
  'cost compute last-month',
  'cost last-week metric storage by day',
  'cost not staging',
  'cost october top 3 vs prev',
  'cost nov 1-15',
  'cost nov 15-1',
  'cost yesterday',
  'cost last-month',
  'cost qtd by month',
  'cost tag prod by team',
  'cost why yesterday',
  'cost mtd final',
  'cost why compute 7d',
  'cost forecast',
  'cost forecast next month metric storage',
  'cost 7d stagign',
  'cost 7d stagign by wek',
  'cost metric stroage',
  'cost next month',
  'cost why 7d by day',
  'cost vs',
];

test.for(TYPED)('each button and menu entry of “%s” works', async (line) => {
  const services = [
    costService('s-1', { name: 'analytics-prod', tags: ['prod'], team: 'analytics' }),
    costService('s-2', { name: 'staging', tags: ['staging'], team: 'platform' }),
  ];
  const metrics = { computeCredits: microOf(16), storageCredits: microOf(4) };
  const credits = Array.from({ length: 689 }, () => 20);
  const rows = services.flatMap(({ id, name }) =>
    daily('2025-01-01', credits, { metrics, entityId: id, entityName: name }),
  );
  const context = { ...contextOf(rows, '2026-11-20', null), services };
  const lines = offeredLines(await asked(line, context));
  expect(lines).not.toEqual([]);
  for (const each of lines) {
    const text = written(await asked(each, context));
    expect(text, each).not.toMatch(REFUSED);
    expect(text, each).not.toContain('has no data');
  }
});

const SEEN = { share: 0.8, error: 0.05, common: 0 };

function rowsOf(days: readonly StrangeDay[], today: string): readonly CostRow[] {
  return days.map(({ ago, credits, locked, settled, isWarehouse }) => {
    const own = { day: addDays(today, -ago), credits, locked };
    const one = isWarehouse ? warehouseRow(own) : row(own);
    return locked ? one : { ...one, openDay: { age: 2, completeness: settled ? SEEN : null } };
  });
}

function contextOf(
  rows: readonly CostRow[],
  today: string,
  list: PriceList | null,
): CommandContext {
  const now = new Date(`${today}T12:00:00Z`);
  const read = { fetchedAt: now, ...(list && { prices: list }) };
  const whole = costContext(rows, { now: () => now, costChanges: async () => [] }, read);
  const refreshCosts: CommandContext['refreshCosts'] = async (span) => {
    return { ok: true, read: await whole.costs(span) };
  };
  return { ...whole, refreshCosts };
}
