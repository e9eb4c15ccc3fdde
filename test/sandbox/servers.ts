import { type IncomingHttpHeaders, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import type { AlertsOptions } from '../../sandbox/alerts/state.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import type { CloudOptions } from '../../sandbox/cloud/state.ts';
import { ALERTS_TOKEN, CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';

export const NOON = new Date('2026-11-20T12:00:00Z');

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed body; an empty object when it is no JSON. */
  readonly json: Reading;
}

/** JSON of any shape, read by key; what is not there reads as undefined. */
export interface Reading {
  readonly [key: string]: Reading | undefined;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Rejects with the socket's error code when no whole answer comes. */
export function send({ method, url, headers, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const { statusCode = 0 } = response;
        const text = bytes.toString('utf8');
        const json = parsed(text);
        resolve({ status: statusCode, headers: response.headers, bytes, text, json });
      });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

function parsed(text: string): Reading {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** A clock that stands at noon until a test moves it. */
export function createClock() {
  let now = NOON;
  return {
    now: () => now,
    advance(ms: number) {
      now = new Date(now.getTime() + ms);
    },
  };
}

export async function cloudServer(options: CloudOptions = {}) {
  const clock = createClock();
  const behaviour = { rateLimit: null, ...options.behaviour };
  const cloud = await startCloudSimulator({ now: clock.now, ...options, behaviour });
  onTestFinished(() => cloud.stop());
  const ask = askerAt(`${cloud.url}/v1/organizations/${ORGANIZATION.id}`, basic(CLOUD_KEY));
  return { cloud, clock, ask };
}

export async function alertsServer(options: AlertsOptions = {}) {
  const clock = createClock();
  const alerts = await startAlertsSimulator({ now: clock.now, rateLimit: null, ...options });
  onTestFinished(() => alerts.stop());
  const token = { authorization: `Bearer ${ALERTS_TOKEN}` };
  return { alerts, clock, ask: askerAt(`${alerts.url}/api/v2/alerts`, token) };
}

/** Sends requests to paths below a URL. A text is sent as it is, so that tests can send what is no JSON. */
function askerAt(url: string, own: Readonly<Record<string, string>>) {
  return (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const all = { ...own, ...headers };
    if (body === undefined) return send({ method, url: url + path, headers: all });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const typed = { 'content-type': 'application/json', ...all };
    return send({ method, url: url + path, headers: typed, body: text });
  };
}

export function basic({ id, secret }: { readonly id: string; readonly secret: string }) {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

export function serviceId(name: string): string {
  const found = ORGANIZATION.services.find((service) => service.name === name);
  if (found === undefined) throw new Error(`no service ${name}`);
  return found.id;
}

export function pipeId(name: string): string {
  const found = ORGANIZATION.pipes.find((pipe) => pipe.name === name);
  if (found === undefined) throw new Error(`no pipe ${name}`);
  return found.id;
}
