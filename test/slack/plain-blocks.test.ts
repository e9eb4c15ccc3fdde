import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { answerMessage, sentenceMessage } from '../../src/slack/answers.ts';
import { inPlainBlocks } from '../../src/slack/plain-blocks.ts';
import { createRespond } from '../../src/slack/response-url.ts';
import { expectSound, NASTY } from './fixtures.ts';

const COSTS = answerMessage({
  title: '1–19 Nov (UTC)',
  parts: [
    {
      kind: 'chart',
      title: 'Credits a day',
      unit: 'credits',
      axis: '1–31 Nov (UTC)',
      points: Array.from({ length: 31 }, (_, index) => ({
        label: `11-${index + 1}`,
        value: index,
      })),
    },
    {
      kind: 'table',
      columns: ['Service', 'Credits'],
      rows: [
        ['analytics-prod', { value: 1234.5, text: '1,234.5' }],
        [NASTY, { value: 2, text: '2.0' }],
      ],
    },
  ],
});

test('a chart and a table of figures are blocks that Slack takes', () => {
  expectSound(COSTS);
  expect(COSTS.blocks.map(({ type }) => type)).toEqual([
    'header',
    'data_visualization',
    'data_table',
  ]);
  expect(JSON.stringify(COSTS.blocks)).toContain('"value":1234.5');
});

test('a workspace without the newest blocks gets the same figures as text', () => {
  const plain = inPlainBlocks(COSTS);
  if (!plain) throw new Error('nothing to draw otherwise');
  expectSound(plain);
  expect(plain.blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text']);
  expect(JSON.stringify(plain.blocks)).toContain('1,234.5');
  expect(JSON.stringify(plain.blocks)).toContain('Credits a day\\n1–31 Nov (UTC)\\n11-12');
  expect(inPlainBlocks(sentenceMessage(['nothing new here']))).toBeNull();
});

async function slackThatRefuses(once: string) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(bodies.length === 1 ? 400 : 200).end(bodies.length === 1 ? once : 'ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port always has an address of this shape.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, bodies };
}

test('refused blocks are sent once more without the new ones, other refusals are not', async () => {
  const first = await slackThatRefuses('invalid_blocks');
  await createRespond(first.url)(first.url, { ...COSTS, replace: false });
  expect(first.bodies.map((body) => body.includes('data_table'))).toEqual([true, false]);

  const second = await slackThatRefuses('expired_url');
  const refused = createRespond(second.url)(second.url, { ...COSTS, replace: false });
  await expect(refused).rejects.toThrow('expired_url');
  expect(second.bodies).toHaveLength(1);
});

test('an answer only goes to Slack, whatever address a payload names', async () => {
  const elsewhere = await slackThatRefuses('never asked');
  const respond = createRespond('https://slack.com/api/');
  const sent = respond(elsewhere.url, { ...COSTS, replace: false });
  await expect(sent).rejects.toThrow('not of Slack');
  expect(elsewhere.bodies).toEqual([]);
});
