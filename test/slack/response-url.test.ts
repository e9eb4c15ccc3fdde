import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { postJson } from '../../src/base/http.ts';
import { answerMessage } from '../../src/slack/answer.ts';
import { createRespond } from '../../src/slack/api.ts';

const COSTS = {
  ...answerMessage({
    title: '1–19 Nov (UTC)',
    parts: [{ kind: 'table', columns: ['Service', 'Credits'], rows: [['analytics-prod', '2.0']] }],
  }),
  replace: false,
};

interface First {
  readonly status?: number;
  readonly said?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** Answers the first of all requests like this, and any other with yes. */
async function slackThatSays({ status = 400, said = '', headers = {} }: First) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      bodies.push(body);
      if (bodies.length === 1) response.writeHead(status, headers).end(said);
      else response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port always has an address of this shape.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, bodies };
}

test('refused blocks are sent once more without the new ones, other refusals are not', async () => {
  const first = await slackThatSays({ said: 'invalid_blocks' });
  await createRespond(first.url, postJson)(first.url, COSTS);
  expect(first.bodies.map((body) => /"(data_)?table"/.test(body))).toEqual([true, false]);

  const second = await slackThatSays({ said: 'expired_url' });
  await expect(createRespond(second.url, postJson)(second.url, COSTS)).rejects.toThrow(
    'expired_url',
  );
  expect(second.bodies).toHaveLength(1);
});

test('an answer only goes to Slack, whatever address a payload names', async () => {
  const elsewhere = await slackThatSays({ said: 'never asked' });
  const sent = createRespond('https://slack.com/api/', postJson)(elsewhere.url, COSTS);
  await expect(sent).rejects.toThrow('not of Slack');
  expect(elsewhere.bodies).toEqual([]);
});

test('an answer that is sent elsewhere by a redirect does not go there', async () => {
  const elsewhere = await slackThatSays({ said: 'never asked' });
  const slack = await slackThatSays({ status: 307, headers: { location: elsewhere.url } });
  await expect(createRespond(slack.url, postJson)(slack.url, COSTS)).rejects.toThrow('307');
  expect(elsewhere.bodies).toEqual([]);
});

test.for([
  ['{"ok":false,"error":"used_url"}', 'used_url'],
  [' { "error": "x",\n "ok" : false }', 'x'],
  ['<!doctype html><title>Sign in</title>', 'Sign in'],
  ['Request blocked by administrator', 'blocked'],
])(
  'a status of 200 with ok: false, a page or other text is no acceptance: %s',
  async ([said = '', reason = '']) => {
    const slack = await slackThatSays({ status: 200, said });
    await expect(createRespond(slack.url, postJson)(slack.url, COSTS)).rejects.toThrow(reason);
    expect(slack.bodies).toHaveLength(1);
  },
);

test.for(['ok', '{"ok":true}', ''])('a status of 200 with “%s” is accepted', async (said) => {
  const slack = await slackThatSays({ status: 200, said });
  await createRespond(slack.url, postJson)(slack.url, COSTS);
  expect(slack.bodies).toHaveLength(1);
});

test('blocks that are refused with status 200 are sent once more without the new ones', async () => {
  const slack = await slackThatSays({ status: 200, said: '{"ok":false,"error":"invalid_blocks"}' });
  await createRespond(slack.url, postJson)(slack.url, COSTS);
  expect(slack.bodies.map((body) => /"(data_)?table"/.test(body))).toEqual([true, false]);
});

test('an answer goes to the host of GovSlack where the API is there', async () => {
  const asked: string[] = [];
  const post = async (url: string) => {
    asked.push(url);
    return { status: 200, text: 'ok' };
  };
  const url = 'https://hooks.slack-gov.com/commands/T1/2/3';
  await createRespond('https://slack-gov.com/api/', post)(url, COSTS);
  await expect(createRespond('https://slack.com/api/', post)(url, COSTS)).rejects.toThrow(
    'not of Slack',
  );
  expect(asked).toEqual([url]);
});
