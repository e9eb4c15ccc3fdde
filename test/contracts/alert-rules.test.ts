import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Booth, openBooth } from './booth.ts';
import { type Rule, verdicts } from './verdicts.ts';

let booth: Booth;
beforeAll(async () => {
  booth = await openBooth();
});
afterAll(() => booth.close());

const LATENCY = '1d2c85b529e65225ec2e363d';
const RATE = '357fc488efc4a66bb2a8f81a';
const RANGE = '8ef29342507d91666304c181';
const ODD_TYPE = 'aca3360150f69f7d4450daf5';
const NO_CHANNEL = '0f67f70fcf8a1afd7deb33cb';
const PAGER = 'bc3339918fa1f8e7636e6dc1';

/** The form of an alert opens filled with what the alert has. */
const edit = (field: string, alert = LATENCY): Rule => ({
  command: 'alert edit',
  beside: alert,
  field,
});

describe('/alert edit', () => {
  test('an interval is a number and a unit', async () => {
    const values = ['1m', '15m', '1h', '99999m', '0m', '5', 'm5', '5 minutes', '100000m'];
    expect(await verdicts(booth, edit('interval'), values)).toMatchInlineSnapshot(`
      "1m
        typed: taken
        form:  taken
      15m
        typed: taken
        form:  taken
      1h
        typed: taken
        form:  taken
      99999m
        typed: taken
        form:  taken
      0m
        typed: interval must be a number and a unit, such as 5m, 15m or 1h (you said 0m)
        form:  [interval] must be a number and a unit, such as 5m, 15m or 1h
      5
        typed: interval must be a number and a unit, such as 5m, 15m or 1h (you said 5)
        form:  [interval] must be a number and a unit, such as 5m, 15m or 1h
      m5
        typed: interval must be a number and a unit, such as 5m, 15m or 1h (you said m5)
        form:  [interval] must be a number and a unit, such as 5m, 15m or 1h
      5 minutes
        typed: interval must be a number and a unit, such as 5m, 15m or 1h (you said 5 minutes)
        form:  [interval] must be a number and a unit, such as 5m, 15m or 1h
      100000m
        typed: interval must be a number and a unit, such as 5m, 15m or 1h (you said 100000m)
        form:  [interval] must be a number and a unit, such as 5m, 15m or 1h"
    `);
  });

  test('a threshold is a number, and may be a fraction or below zero', async () => {
    const values = ['851', '0', '-5', '0.5', 'many', '850'];
    expect(await verdicts(booth, edit('threshold'), values)).toMatchInlineSnapshot(`
      "851
        typed: taken
        form:  taken
      0
        typed: taken
        form:  taken
      -5
        typed: taken
        form:  taken
      0.5
        typed: taken
        form:  taken
      many
        typed: threshold must be a number (you said many)
        form:  [threshold] Please enter a number.
      850
        typed: threshold or another field must differ from what the alert has (you said 850) | /alert edit "Checkout latency p95" threshold=850
        form:  threshold or another field must differ from what the alert has (you said 850) | /alert edit "Checkout latency p95" threshold=850 interval=5m type=above name="Checkout latency p95" message="Checkout is slow" webhook=84d522e4fbd278b2b66beeed dashboard=62c44503c8448bc7c39e434f tile=tile-latency"
    `);
  });

  test('a type is above or below', async () => {
    const values = ['below', 'above', 'between'];
    expect(await verdicts(booth, edit('thresholdType'), values)).toMatchInlineSnapshot(`
      "below
        typed: taken
        form:  taken
      above
        typed: threshold or another field must differ from what the alert has | /alert edit "Checkout latency p95" type=above
        form:  threshold or another field must differ from what the alert has (you said 850) | /alert edit "Checkout latency p95" threshold=850 interval=5m type=above name="Checkout latency p95" message="Checkout is slow" webhook=84d522e4fbd278b2b66beeed dashboard=62c44503c8448bc7c39e434f tile=tile-latency
      between
        typed: type must be above or below (you said between)
        form:  not offered; [thresholdType] must be above or below"
    `);
  });

  test('a lower bound is not above the upper one', async () => {
    const values = ['899', '900', '901'];
    expect(await verdicts(booth, edit('threshold', RANGE), values)).toMatchInlineSnapshot(`
      "899
        typed: taken
        form:  taken
      900
        typed: taken
        form:  taken
      901
        typed: threshold must not be above the upper bound of this alert (you said 901) | /alert edit "Orders per minute out of range" threshold=901
        form:  threshold must not be above the upper bound of this alert (you said 901) | /alert edit "Orders per minute out of range" threshold=901 interval=5m name="Orders per minute out of range" webhook=1cd7edd85bd8339788c3f0f9 dashboard=62c44503c8448bc7c39e434f tile=tile-orders"
    `);
  });

  test('an alert of a type of its own keeps it', async () => {
    expect(
      await verdicts(booth, edit('thresholdType', ODD_TYPE), ['above']),
    ).toMatchInlineSnapshot(`
      "above
        typed: type cannot be changed here: this alert has a type of its own (you said above) | /alert edit "Unusual traffic" type=above
        form:  type cannot be changed here: this alert has a type of its own (you said above) | /alert edit "Unusual traffic" threshold=3 interval=5m type=above name="Unusual traffic" webhook=84d522e4fbd278b2b66beeed dashboard=5a4875cbcc6a788355c70fda tile=tile-traffic"
    `);
    expect(await verdicts(booth, edit('thresholdType', RANGE), ['below'])).toMatchInlineSnapshot(`
      "below
        typed: type cannot be changed here: this alert has a type of its own (you said below) | /alert edit "Orders per minute out of range" type=below
        form:  type cannot be changed here: this alert has a type of its own (you said below) | /alert edit "Orders per minute out of range" threshold=40 interval=5m type=below name="Orders per minute out of range" webhook=1cd7edd85bd8339788c3f0f9 dashboard=62c44503c8448bc7c39e434f tile=tile-orders"
    `);
    expect(await verdicts(booth, edit('threshold', ODD_TYPE), ['4'])).toMatchInlineSnapshot(`
      "4
        typed: taken
        form:  taken"
    `);
  });

  test('an alert that watches a saved search gets no tile', async () => {
    expect(await verdicts(booth, edit('tileId', RATE), ['tile-1'])).toMatchInlineSnapshot(`
      "tile-1
        typed: tile does not fit: this alert watches a saved search (you said tile-1) | /alert edit "5xx rate" tile=tile-1
        form:  tile does not fit: this alert watches a saved search (you said tile-1) | /alert edit "5xx rate" threshold=100 interval=5m type=above name="5xx rate" message="Too many 5xx answers in {{group}}" webhook=84d522e4fbd278b2b66beeed tile=tile-1"
    `);
    expect(await verdicts(booth, edit('dashboardId', RATE), ['dash-1'])).toMatchInlineSnapshot(`
      "dash-1
        typed: dashboard does not fit: this alert watches a saved search (you said dash-1) | /alert edit "5xx rate" dashboard=dash-1
        form:  dashboard does not fit: this alert watches a saved search (you said dash-1) | /alert edit "5xx rate" threshold=100 interval=5m type=above name="5xx rate" message="Too many 5xx answers in {{group}}" webhook=84d522e4fbd278b2b66beeed dashboard=dash-1"
    `);
  });

  test('a webhook goes where there is one, and nowhere else', async () => {
    const webhook = '1cd7edd85bd8339788c3f0f9';
    expect(await verdicts(booth, edit('webhookId'), [webhook])).toMatchInlineSnapshot(`
      "1cd7edd85bd8339788c3f0f9
        typed: taken
        form:  taken"
    `);
    expect(await verdicts(booth, edit('webhookId', PAGER), [webhook])).toMatchInlineSnapshot(`
      "1cd7edd85bd8339788c3f0f9
        typed: webhook does not fit: its first channel is no webhook (you said 1cd7edd85bd8339788c3f0f9) | /alert edit "Backup missing" webhook=1cd7edd85bd8339788c3f0f9
        form:  webhook does not fit: its first channel is no webhook (you said 1cd7edd85bd8339788c3f0f9) | /alert edit "Backup missing" threshold=1 interval=1d type=below name="Backup missing" webhook=1cd7edd85bd8339788c3f0f9"
    `);
  });

  test('an alert whose channel is not shown cannot be changed without losing it', async () => {
    expect(await verdicts(booth, edit('threshold', NO_CHANNEL), ['9'])).toMatchInlineSnapshot(`
      "9
        typed: threshold cannot be changed: the server showed no channel, and would lose it (you said 9) | /alert edit "Queue length" threshold=9
        form:  threshold cannot be changed: the server showed no channel, and would lose it (you said 9) | /alert edit "Queue length" threshold=9 interval=5m type=above name="Queue length" dashboard=5a4875cbcc6a788355c70fda tile=tile-queue"
    `);
  });

  test('a name and a message are not empty', async () => {
    expect(
      await verdicts(booth, edit('name'), ['p95', 'Checkout latency p95']),
    ).toMatchInlineSnapshot(`
      "p95
        typed: taken
        form:  taken
      Checkout latency p95
        typed: threshold or another field must differ from what the alert has | /alert edit "Checkout latency p95" name="Checkout latency p95"
        form:  threshold or another field must differ from what the alert has (you said 850) | /alert edit "Checkout latency p95" threshold=850 interval=5m type=above name="Checkout latency p95" message="Checkout is slow" webhook=84d522e4fbd278b2b66beeed dashboard=62c44503c8448bc7c39e434f tile=tile-latency"
    `);
    expect(await booth.said(`/alert edit ${LATENCY} name=" "`)).toMatchInlineSnapshot(`
      [
        "name must not be empty (you said  )",
      ]
    `);
  });

  test('what watches is never offered to be changed', async () => {
    expect(await booth.said(`/alert edit ${LATENCY} source=search`)).toMatchInlineSnapshot(`
      [
        "/alert edit has no “source=”. It takes: threshold, interval, type, name, message, webhook, dashboard, tile.",
        "For example: /alert edit "5xx rate" threshold=250 interval=15m",
      ]
    `);
  });

  test('an alert that nobody knows is not guessed at', async () => {
    expect(await booth.said('/alert edit "Checkout latensy" threshold=1')).toMatchInlineSnapshot(`
      [
        "I know no alert “Checkout latensy”. Did you mean:",
        "[edit Checkout latency p95]",
      ]
    `);
  });
});

describe('/alert list', () => {
  test('a page is a whole number from 1', async () => {
    expect(await booth.said('/alert list page=0')).toMatchInlineSnapshot(`
      [
        "page must be 1 or more (you said 0)",
      ]
    `);
    expect(await booth.said('/alert list page=1.5')).toMatchInlineSnapshot(`
      [
        "page must be a whole number (you said 1.5)",
      ]
    `);
    expect((await booth.said('/alert list page=1'))[0]).toBe('14 alerts');
  });

  test('silenced is on or off', async () => {
    expect(await booth.said('/alert list silenced=maybe')).toMatchInlineSnapshot(`
      [
        "silenced must be on or off (you said maybe)",
      ]
    `);
    expect((await booth.said('/alert list silenced=on'))[0]).toBe('2 alerts');
  });
});
