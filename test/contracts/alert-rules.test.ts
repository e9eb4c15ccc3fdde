import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { answerForm, fieldOf } from './forms.ts';
import { linesOf } from './message-lines.ts';
import { answersTo, type Rule } from './rule-answers.ts';

let bot: ContractBot;
beforeAll(async () => {
  bot = await openContractBot();
});
afterAll(() => bot.close());

const LATENCY = '1d2c85b529e65225ec2e363d';
const RATE = '357fc488efc4a66bb2a8f81a';
const RANGE = '8ef29342507d91666304c181';
const ODD_TYPE = 'aca3360150f69f7d4450daf5';
const NO_CHANNEL = '0f67f70fcf8a1afd7deb33cb';
const OFFSET = '4cc476b9c186b64bc5d65f43';
const PAGER = 'bc3339918fa1f8e7636e6dc1';

const WEBHOOK = '1cd7edd85bd8339788c3f0f9';

type Edited = readonly [field: string, alert: string, value: string, problem: string];

/** A rule for one field of the edit form, which opens with the values of the alert. */
const edit = (field: string, alert = LATENCY): Rule => ({
  command: 'alert edit',
  otherArgs: alert,
  field,
});

describe('/alert edit', () => {
  test('an interval is one of those of the server', async () => {
    expect(await answersTo(bot, edit('interval'), ['99999m', '5 minutes'])).toMatchInlineSnapshot(`
      "99999m
        typed: interval must be 1m, 5m, 15m, 30m, 1h, 6h, 12h or 1d, not 99999m: | [interval=1d]
        form:  [interval] Interval must be 1m, 5m, 15m, 30m, 1h, 6h, 12h or 1d, not 99999m: 1d.
      5 minutes
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it] | /alert edit "Checkout latency p95" interval=5m"
    `);
  });

  test('a form does not shorten a message that is too long for it', async () => {
    const message = 'm'.repeat(3_500);
    bot.alerts.editAlert(LATENCY, { message });
    const view = await bot.form(`/alert edit ${LATENCY}`, 'alert.edit');
    expect(linesOf(view.blocks)).toContain(
      'Message  []  (Has 3,500 characters, more than a form can show. Leave it empty to keep it.)',
    );
    const threshold = { threshold: { type: 'number_input', value: '900' } };
    const { lines } = await bot.submit(view.id, { threshold });
    expect(lines).toContain('Threshold · 850 · 900');
    expect(lines.join('\n')).toMatch(/Unchanged: .*message/);
    bot.alerts.editAlert(LATENCY, { message: 'Checkout is slow' });
  });

  test('the form of a typed message that is too long for it says so', async () => {
    const line = `/alert edit ${LATENCY} message="${'m'.repeat(3_200)}"`;
    const view = await bot.openEditForm(line, 'alert.edit');
    expect(linesOf(view.blocks)).toContain(
      'Message  []  (Had 3,200 characters; a form accepts at most 3,000. Type the command for a longer text.)',
    );
    await bot.slack.close(ANA, view.id);
  });

  test('a value that the alert has already changes nothing', async () => {
    expect(await answersTo(bot, edit('threshold'), ['850'])).toMatchInlineSnapshot(`
      "850
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  [threshold] Threshold must differ from the current value, or set another field."
    `);
  });

  test.for([
    ['threshold', RANGE, '900'],
    ['threshold', ODD_TYPE, '4'],
    ['webhookId', LATENCY, WEBHOOK],
    ['webhookId', NO_CHANNEL, WEBHOOK],
  ] as const)('%s of the alert %s may become %s', async ([field, alert, value]) => {
    expect(await answersTo(bot, edit(field, alert), [value])).toBe(`${value}: taken`);
  });

  /** Typed and filled in, the value opens the form with this problem above its fields. */
  async function expectProblem([field, alert, value, problem]: Edited) {
    const answers = await answersTo(bot, edit(field, alert), [value]);
    const { word } = fieldOf('alert edit', field);
    const [, ...both] =
      /typed: opens the form: (.*)form: {2}opens again: (.*)/s.exec(answers) ?? [];
    expect(both).toHaveLength(2);
    for (const each of both) expect(each).toContain(`${word} ${problem} (you typed ${value})`);
  }

  const OTHER_TYPE = 'cannot be changed here: the type of this alert is neither above nor below';
  const OF_A_SEARCH = 'does not apply: this alert watches a saved search';
  const ALONE = 'cannot be changed alone: this alert has no channel. Set a webhook as well';

  test.for<Edited>([
    ['threshold', RANGE, '901', 'must not be above the upper bound of this alert'],
    ['thresholdType', ODD_TYPE, 'above', OTHER_TYPE],
    ['thresholdType', RANGE, 'below', OTHER_TYPE],
    ['tileId', RATE, 'tile-1', OF_A_SEARCH],
    ['dashboardId', RATE, 'dash-1', OF_A_SEARCH],
    ['webhookId', PAGER, WEBHOOK, 'does not apply: the first channel is not a webhook'],
    ['threshold', NO_CHANNEL, '9', ALONE],
  ])('%s of the alert %s cannot become %s: it %s', expectProblem);

  test('an interval is longer than the schedule offset', async () => {
    expect(await answersTo(bot, edit('interval', OFFSET), ['15m', '30m'])).toMatchInlineSnapshot(`
      "15m
        typed: interval must be longer than the schedule offset of this alert, not 15m: | [interval=30m] [interval=1h]
        form:  interval must be longer than the schedule offset of this alert, not 15m: | [interval=30m] [interval=1h] | /alert edit "Nightly import" interval=15m
      30m: taken"
    `);
  });

  test('a field of another type that is carried along is refused at the preview', async () => {
    bot.alerts.editAlert(LATENCY, { note: 5 as unknown as string });
    const problem = 'cannot be changed: the note that the server returned must be a text';
    await expectProblem(['threshold', LATENCY, '9', problem]);
    bot.alerts.editAlert(LATENCY, { note: null });
  });

  test('“none” and an emptied input remove a message, and one button restores it', async () => {
    const removed = 'Message · Checkout is slow · none';
    expect(await bot.run(`/alert edit ${LATENCY} message=none`)).toContain(removed);
    const { answer } = await answerForm(bot, 'alert edit', `/alert edit ${LATENCY} threshold=9`, {
      message: '',
    });
    if (!answer) throw new Error('The form was refused');
    expect(bot.linesIn(answer)).toContain(removed);
    const card = bot.currentLines(await bot.confirm(answer));
    expect(card.join('\n')).toContain('[Restore the previous values]');
    expect(await bot.run(`/alert show ${LATENCY}`)).not.toContain('Message  Checkout is slow');
    await bot.confirm(await bot.type(`/alert edit ${LATENCY} message="Checkout is slow"`));
  });

  test('a name cannot be empty', async () => {
    expect(await answersTo(bot, edit('name'), [' '])).toContain('name must not be empty');
  });
});

describe('/alert list', () => {
  test('a page is a whole number from 1', async () => {
    const [zero] = await bot.run('/alert list page=0');
    expect(zero).toBe('page must be 1 or more, not 0');
    const [part] = await bot.run('/alert list page=1.5');
    expect(part).toBe('page must be a whole number, not 1.5');
  });

  test('a page beyond the end is refused and the last page offered', async () => {
    expect(await bot.run('/alert list state=ok page=9')).toEqual([
      'Alerts',
      "There's no page 9. The last page is 1.",
      '[Page 1]',
      '/alert list state=OK page=9',
    ]);
  });

  test.for([
    [
      'state=alrt',
      'No alert has the state “alrt”. Accepted: ok, firing, pending, no data, disabled, active, inactive, broken or flapping.',
      '[firing]',
    ],
    [
      'source=tiles',
      'No alert has the source “tiles”. Accepted: dashboard tile, saved search or search.',
      '[dashboard tile]',
    ],
  ])('%s is refused with the accepted values', async ([filter, sentence, offers]) => {
    expect(await bot.run(`/alert list ${filter}`)).toEqual([
      'Alerts',
      sentence,
      offers,
      `/alert list ${filter}`,
    ]);
  });

  test('a known state that no alert has finds nothing', async () => {
    expect((await bot.run('/alert list state=pending')).slice(0, 3)).toEqual([
      'Alerts',
      'No alert matches: pending.',
      '[Firing alerts] [All alerts]',
    ]);
  });

  test('silenced is on or off', async () => {
    expect(await bot.run('/alert list silenced=maybe')).toEqual([
      'silenced must be on or off, not maybe',
      '/alert list silenced=maybe',
    ]);
    expect((await bot.run('/alert list silenced=on'))[0]).toBe('2 of 14 alerts: muted');
  });
});
