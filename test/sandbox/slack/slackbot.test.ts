import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startSlackSimulator } from '../../../sandbox/slack/server.ts';
import { SLACKBOT_CHANNEL } from '../../../sandbox/slack/workspace/workspace.ts';
import { signedHeaders } from '../../agents/issuer.ts';
import { listening } from '../../harness/listening.ts';
import { ANA, BEN, NOON } from '../../harness/users.ts';
import { manifest } from './bolt-app.ts';

const SECRET = 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef';
const READ = { name: 'service_list', annotations: { readOnlyHint: true } };
const STOP = { name: 'service_stop', annotations: { destructiveHint: true } };
const UNMARKED = { name: 'cost' };

/** Slackbot with an MCP server that answers each call of a tool with this content. */
async function startSlackbot(content: object = { type: 'text', text: '{"summary":"Done."}' }) {
  const requests: { method: string; params: Record<string, never>; isSigned: boolean }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const { id, method, params } = JSON.parse(body);
    const expected = signedHeaders(body, NOON, { secret: SECRET });
    const isSigned = Object.entries(expected).every(
      ([key, value]) => request.headers[key] === value,
    );
    requests.push({ method, params, isSigned });
    if (id === undefined) return response.writeHead(202).end();
    const results: Readonly<Record<string, object>> = {
      initialize: { protocolVersion: params.protocolVersion, capabilities: {} },
      'tools/list': { tools: [READ, STOP, UNMARKED] },
      'tools/call': { content: [content] },
    };
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
  });
  const url = `${await listening(server)}/mcp`;
  const slack = await startSlackSimulator({
    manifest,
    delivery: { mode: 'http', signingSecret: SECRET },
    now: () => NOON,
    mcp: { url, signingSecret: SECRET, signedAt: () => NOON },
  });
  onTestFinished(slack.stop);
  const own = () => slack.messages(SLACKBOT_CHANNEL);
  return {
    requests,
    slack,
    say: async (text: string) => {
      await slack.sendMessage({ as: ANA, channel: SLACKBOT_CHANNEL, text });
      return own().at(-1)?.text;
    },
    press: async (actionId: string) => {
      const question = own().findLast(({ blocks }) => blocks.length > 0);
      const place = { in: 'message', channel: SLACKBOT_CHANNEL, ts: question?.ts ?? '' } as const;
      await slack.click(ANA, place, actionId);
      return own().at(-1)?.text;
    },
  };
}

test('Slackbot opens signed, lists without a person, and names the person for a call', async () => {
  const { say, requests, slack } = await startSlackbot();
  expect(await say('services')).toBe('Done.');
  expect(requests.map(({ method }) => method)).toEqual([
    ...['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
  ]);
  expect(requests.every(({ isSigned }) => isSigned)).toBe(true);
  const persons = requests.map(({ params }) => params._meta);
  const ana = { slack: { user_id: ANA, team_id: slack.workspace.teamId } };
  expect(persons).toEqual([undefined, undefined, undefined, ana]);
  expect(requests[0]?.params.protocolVersion).toBe('2025-06-18');
  const seenBy = (as: string) =>
    slack.clientState(as).messages.filter(({ channel }) => channel === SLACKBOT_CHANNEL).length;
  expect([seenBy(ANA), seenBy(BEN)]).toEqual([2, 0]);
});

test('a tool that is not marked as read-only is called after consent only, once', async () => {
  const { say, press, requests } = await startSlackbot();
  const calls = () => requests.filter(({ method }) => method === 'tools/call');
  expect(await say('stop staging, tests are done')).toBe('Allow service_stop?');
  expect(await press('slackbot.deny')).toBe('service_stop: denied');
  expect(await say('costs')).toBe('Allow cost?');
  expect(calls()).toHaveLength(0);
  await say('Stop staging, tests are done.');
  expect(await press('slackbot.allow')).toContain('Done.');
  expect(calls().map(({ params }) => params.arguments)).toEqual([
    { service: 'staging', reason: 'tests are done' },
  ]);
});

test('other content than text, tools that are not listed and other sentences lead to no answer', async () => {
  const { say } = await startSlackbot({ type: 'image', data: '', mimeType: 'image/png' });
  expect(await say('services')).toBe('Signalbox answered with more than text.');
  expect(await say('start staging')).toBe('Signalbox offers no tool for this.');
  expect(await say('make it cheaper')).toMatch(/^I understand: /);
});
