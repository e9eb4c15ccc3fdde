import { expect, test } from 'vitest';
import { postJson } from '../../src/base/http.ts';
import { answerMessage } from '../../src/slack/answer.ts';
import { createRespond } from '../../src/slack/api.ts';
import { raw, serve } from '../base/loopback.ts';

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
  readonly headers?: Record<string, string>;
}

/** Answers the first of all requests like this, and any other with yes. */
async function slackThatSays({ status = 400, said = '', headers = {} }: First) {
  const { url, received } = await serve(raw(status, said, headers), raw(200, 'ok'));
  return { url: `${url}/`, bodies: () => received.map(({ text }) => text) };
}

const answer = ({ url }: { readonly url: string }) => createRespond(url, postJson)(url, COSTS);

test.for<First>([
  { said: 'invalid_blocks' },
  { status: 200, said: '{"ok":false,"error":"invalid_blocks"}' },
])('blocks that are refused with %j are sent once more without the new ones', async (first) => {
  const slack = await slackThatSays(first);
  await answer(slack);
  expect(slack.bodies().map((body) => /"(data_)?table"/.test(body))).toEqual([true, false]);
});

test('an answer only goes to Slack, whatever address a payload names', async () => {
  const elsewhere = await slackThatSays({ said: 'never asked' });
  const sent = createRespond('https://slack.com/api/', postJson)(elsewhere.url, COSTS);
  await expect(sent).rejects.toThrow('not of Slack');
  expect(elsewhere.bodies()).toEqual([]);
});

test('an answer that is sent elsewhere by a redirect does not go there', async () => {
  const elsewhere = await slackThatSays({ said: 'never asked' });
  const slack = await slackThatSays({ status: 307, headers: { location: elsewhere.url } });
  await expect(answer(slack)).rejects.toThrow('307');
  expect(elsewhere.bodies()).toEqual([]);
});

test.for([
  ['expired_url', 'expired_url', 400],
  ['{"ok":false,"error":"used_url"}', 'used_url'],
  [' { "error": "x",\n "ok" : false }', 'x'],
  ['<!doctype html><title>Sign in</title>', 'Sign in'],
  ['Request blocked by administrator', 'blocked'],
] as const)(
  'a status of 200 with ok: false, a page, other text or a refusal is no acceptance: %s',
  async ([said, reason, status = 200]) => {
    const slack = await slackThatSays({ status, said });
    await expect(answer(slack)).rejects.toThrow(reason);
    expect(slack.bodies()).toHaveLength(1);
  },
);

test.for(['ok', '{"ok":true}', ''])('a status of 200 with “%s” is accepted', async (said) => {
  const slack = await slackThatSays({ status: 200, said });
  await answer(slack);
  expect(slack.bodies()).toHaveLength(1);
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
