import { createServer } from 'node:http';
import { WebAPIPlatformError, WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Json } from '../../../sandbox/json.ts';
import { listening } from '../../harness/listening.ts';
import { quiet, type startSlack } from './bolt-app.ts';

export type SlackForTest = Awaited<ReturnType<typeof startSlack>>;

/** The official client, without retries, so that one test call is one call. */
export function clientOf(
  slack: SlackForTest,
  token = slack.botToken,
  { timeout = 0 }: { readonly timeout?: number } = {},
) {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    timeout,
    logger: quiet,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
}

/** `ok`, or the name of Slack's refusal. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): string {
  if (error instanceof WebAPIPlatformError) return error.data.error;
  return error instanceof Error ? error.name : String(error);
}

const Posted = z.object({ ts: z.string() });

/** Posts blocks of any shape and gives back the message's ts. */
export async function posted(client: WebClient, message: Record<string, unknown>): Promise<string> {
  return Posted.parse(await client.apiCall('chat.postMessage', message)).ts;
}

/** Receives the app's payloads and acknowledges each of them with the given body. */
export async function listener(slack: SlackForTest, answer: () => unknown = () => undefined) {
  const received: Json[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push(read(request.headers['content-type'] ?? '', body));
    const reply = answer();
    if (reply === undefined) response.end();
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
  });
  slack.deliverTo(`${await listening(server)}/`);
  return received;
}

function read(contentType: string, body: string): Json {
  if (contentType === 'application/json') return JSON.parse(body);
  const fields = Object.fromEntries(new URLSearchParams(body));
  return fields.payload === undefined ? fields : JSON.parse(fields.payload);
}
