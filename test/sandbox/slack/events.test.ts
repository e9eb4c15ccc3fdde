import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { listening } from '../../harness/listening.ts';
import { ana, ben, startSlack } from './bolt-app.ts';

describe('an event that the app does not accept', () => {
  interface Offer {
    readonly num: string | undefined;
    readonly reason: string | undefined;
    readonly body: { readonly event_id: string };
  }

  async function listener(statuses: number[], headers: Record<string, string> = {}) {
    const offers: Offer[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const header = (name: string) => request.headers[name]?.toString();
      offers.push({
        num: header('x-slack-retry-num'),
        reason: header('x-slack-retry-reason'),
        body: JSON.parse(body),
      });
      const status = statuses.shift() ?? 200;
      // Status 0 stands for an app that never answers.
      if (status > 0) response.writeHead(status, headers).end();
    });
    return { offers, eventsUrl: `${await listening(server)}/` };
  }

  test('is retried three times, with the reason, after the documented delays', async () => {
    const { offers, eventsUrl } = await listener([500, 0, 503, 500, 200]);
    const waits: number[] = [];
    const slack = await startSlack({
      ackTimeoutMs: 1500,
      wait: async (ms) => {
        waits.push(ms);
      },
    });
    slack.deliverTo(eventsUrl);
    await slack.admin.deactivate(ben);
    expect(offers.map(({ num, reason }) => [num, reason])).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_timeout'],
      ['3', 'http_error'],
    ]);
    expect(new Set(offers.map(({ body }) => body.event_id)).size).toBe(1);
    expect(waits).toEqual([0, 60_000, 300_000]);
  });

  test('is not retried when the app refuses retries or has accepted it', async () => {
    const said = await listener([500], { 'x-slack-no-retry': '1' });
    const taken = await listener([500, 202]);
    const slack = await startSlack();
    slack.deliverTo(said.eventsUrl);
    await slack.admin.deactivate(ben);
    slack.deliverTo(taken.eventsUrl);
    await slack.admin.deactivate(ana);
    expect([said.offers.length, taken.offers.length]).toEqual([1, 2]);
  });

  test('can be delivered twice without a difference', async () => {
    const { offers, eventsUrl } = await listener([]);
    const slack = await startSlack();
    slack.deliverTo(eventsUrl);
    await slack.admin.deactivate(ben);
    await slack.redeliver(slack.events()[0]?.id ?? '');
    expect(offers).toHaveLength(2);
    expect(offers[1]).toEqual(offers[0]);
  });
});
