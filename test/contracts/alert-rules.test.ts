import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { answerForm } from './forms.ts';
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

/** A rule for one field of the edit form, which opens with the values of the alert. */
const edit = (field: string, alert = LATENCY): Rule => ({
  command: 'alert edit',
  otherArgs: alert,
  field,
});

describe('/alert edit', () => {
  test('an interval consists of a number and a unit', async () => {
    const values = ['1m', '15m', '1h', '99999m', '0m', '5', 'm5', '5 minutes', '100000m'];
    expect(await answersTo(bot, edit('interval'), values)).toMatchInlineSnapshot(`
      "1m, 15m, 1h: taken
      99999m
        typed: interval must be 1m, 5m, 15m, 30m, 1h, 6h, 12h or 1d, not 99999m: | [interval=1d]
        form:  [interval] Interval must be 1m, 5m, 15m, 30m, 1h, 6h, 12h or 1d, not 99999m: 1d.
      0m
        typed: opens the form: Alert “Checkout latency p95”
      interval must be a number and a unit, for example 5m, 15m or 1h (you typed 0m)
        form:  [interval] Interval must be a number and a unit, for example 5m, 15m or 1h (you typed 0m).
      5
        typed: opens the form: Alert “Checkout latency p95”
      interval must be a number and a unit, for example 5m, 15m or 1h (you typed 5)
        form:  [interval] Interval must be a number and a unit, for example 5m, 15m or 1h (you typed 5).
      m5
        typed: opens the form: Alert “Checkout latency p95”
      interval must be a number and a unit, for example 5m, 15m or 1h (you typed m5)
        form:  [interval] Interval must be a number and a unit, for example 5m, 15m or 1h (you typed m5).
      5 minutes
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it] | /alert edit "Checkout latency p95" interval=5m
      100000m
        typed: interval must be a number and a unit, for example 5m, 15m or 1h (you typed 100000m): | [interval=1d]
        form:  [interval] Interval must be a number and a unit, for example 5m, 15m or 1h (you typed 100000m): 1d."
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

  test('a threshold is a number, including fractions and negative values', async () => {
    const values = ['851', '0', '-5', '0.5', 'many', '850'];
    expect(await answersTo(bot, edit('threshold'), values)).toMatchInlineSnapshot(`
      "851, 0, -5, 0.5: taken
      many
        typed: opens the form: Alert “Checkout latency p95”
      threshold must be a number, not many
        form:  [threshold] Please enter a number.
      850
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  [threshold] Threshold must differ from the current value, or set another field."
    `);
  });

  test('the threshold type is above or below', async () => {
    const values = ['below', 'above', 'between'];
    expect(await answersTo(bot, edit('thresholdType'), values)).toMatchInlineSnapshot(`
      "below: taken
      above
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  [threshold] Threshold must differ from the current value, or set another field.
      between
        typed: opens the form: Alert “Checkout latency p95”
      type must be above or below, not between
        form:  not offered; [thresholdType] Type must be above or below, not between."
    `);
  });

  test('the lower bound is at most the upper one', async () => {
    const values = ['899', '900', '901'];
    expect(await answersTo(bot, edit('threshold', RANGE), values)).toMatchInlineSnapshot(`
      "899, 900: taken
      901
        typed: opens the form: Alert “Orders per minute out of range”
      threshold must not be above the upper bound of this alert (you typed 901)
        form:  opens again: Alert “Orders per minute out of range”
      threshold must not be above the upper bound of this alert (you typed 901)"
    `);
  });

  test('the threshold type of a range or anomaly alert cannot be changed', async () => {
    expect(await answersTo(bot, edit('thresholdType', ODD_TYPE), ['above'])).toMatchInlineSnapshot(`
      "above
        typed: opens the form: Alert “Unusual traffic”
      type cannot be changed here: the type of this alert is neither above nor below (you typed above)
        form:  opens again: Alert “Unusual traffic”
      type cannot be changed here: the type of this alert is neither above nor below (you typed above)"
    `);
    expect(await answersTo(bot, edit('thresholdType', RANGE), ['below'])).toMatchInlineSnapshot(`
      "below
        typed: opens the form: Alert “Orders per minute out of range”
      type cannot be changed here: the type of this alert is neither above nor below (you typed below)
        form:  opens again: Alert “Orders per minute out of range”
      type cannot be changed here: the type of this alert is neither above nor below (you typed below)"
    `);
    expect(await answersTo(bot, edit('threshold', ODD_TYPE), ['4'])).toMatchInlineSnapshot(
      `"4: taken"`,
    );
  });

  test('an alert on a saved search cannot get a tile', async () => {
    expect(await answersTo(bot, edit('tileId', RATE), ['tile-1'])).toMatchInlineSnapshot(`
      "tile-1
        typed: opens the form: Alert “5xx rate”
      tile does not apply: this alert watches a saved search (you typed tile-1)
        form:  opens again: Alert “5xx rate”
      tile does not apply: this alert watches a saved search (you typed tile-1)"
    `);
    expect(await answersTo(bot, edit('dashboardId', RATE), ['dash-1'])).toMatchInlineSnapshot(`
      "dash-1
        typed: opens the form: Alert “5xx rate”
      dashboard does not apply: this alert watches a saved search (you typed dash-1)
        form:  opens again: Alert “5xx rate”
      dashboard does not apply: this alert watches a saved search (you typed dash-1)"
    `);
  });

  test('the webhook can be changed only if the first channel is a webhook', async () => {
    const webhook = '1cd7edd85bd8339788c3f0f9';
    expect(await answersTo(bot, edit('webhookId'), [webhook])).toMatchInlineSnapshot(
      `"1cd7edd85bd8339788c3f0f9: taken"`,
    );
    expect(await answersTo(bot, edit('webhookId', PAGER), [webhook])).toMatchInlineSnapshot(`
      "1cd7edd85bd8339788c3f0f9
        typed: opens the form: Alert “Backup missing”
      webhook does not apply: the first channel is not a webhook (you typed 1cd7edd85bd8339788c3f0f9)
        form:  opens again: Alert “Backup missing”
      webhook does not apply: the first channel is not a webhook (you typed 1cd7edd85bd8339788c3f0f9)"
    `);
  });

  test('an alert without a channel needs a webhook, and can be given one', async () => {
    expect(await answersTo(bot, edit('threshold', NO_CHANNEL), ['9'])).toMatchInlineSnapshot(`
      "9
        typed: opens the form: Alert “Queue length”
      threshold cannot be changed alone: this alert has no channel. Set a webhook as well (you typed 9)
        form:  opens again: Alert “Queue length”
      threshold cannot be changed alone: this alert has no channel. Set a webhook as well (you typed 9)"
    `);
    const webhook = ['1cd7edd85bd8339788c3f0f9'];
    expect(await answersTo(bot, edit('webhookId', NO_CHANNEL), webhook)).toMatchInlineSnapshot(
      `"1cd7edd85bd8339788c3f0f9: taken"`,
    );
  });

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
    expect(await answersTo(bot, edit('threshold'), ['9'])).toMatchInlineSnapshot(`
      "9
        typed: opens the form: Alert “Checkout latency p95”
      threshold cannot be changed: the note that the server returned must be a text (you typed 9)
        form:  opens again: Alert “Checkout latency p95”
      threshold cannot be changed: the note that the server returned must be a text (you typed 9)"
    `);
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

  test('a name and a message cannot be empty', async () => {
    expect(
      await answersTo(bot, edit('name'), ['p95', 'Checkout latency p95']),
    ).toMatchInlineSnapshot(`
      "p95: taken
      Checkout latency p95
        typed: Checkout latency p95 already has these values (checked just now), so nothing was requested. | [Show it]
        form:  [threshold] Threshold must differ from the current value, or set another field."
    `);
    expect(await answersTo(bot, edit('name'), [' '])).toContain('name must not be empty');
  });

  test('the source of an alert cannot be edited', async () => {
    expect(await bot.run(`/alert edit ${LATENCY} source=search`)).toEqual([
      '/alert edit has no key “source=”. Keys: threshold, interval, type, name, message, webhook, dashboard, tile, at, in, for, until.',
      '[It is only the reason]',
      `/alert edit ${LATENCY} source=search`,
    ]);
  });

  test('for an unknown alert the nearest name is offered', async () => {
    expect(await bot.run('/alert edit "Checkout latensy" threshold=1')).toEqual([
      "There's no alert called “Checkout latensy”. Did you mean:",
      '[Checkout latency p95]',
      '/alert edit "Checkout latensy" threshold=1',
    ]);
  });
});

describe('/alert list', () => {
  test('a page is a whole number from 1', async () => {
    expect(await bot.run('/alert list page=0')).toEqual([
      'page must be 1 or more, not 0',
      '/alert list page=0',
    ]);
    expect(await bot.run('/alert list page=1.5')).toEqual([
      'page must be a whole number, not 1.5',
      '/alert list page=1.5',
    ]);
    expect((await bot.run('/alert list page=1'))[0]).toBe('3 of 14 alerts firing');
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
