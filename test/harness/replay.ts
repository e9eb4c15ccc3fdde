import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/base/log.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/ops/index.ts';
import { listening } from './listening.ts';
import { deliver, FORM, signatureOf } from './signing.ts';
import { AUDIT_KEY, SIGNING_SECRET } from './simulators.ts';

type Json = Readonly<Record<string, unknown>>;

/** A line of a recording. */
export interface Recorded {
  readonly at: string;
  readonly door: 'slack' | 'payload' | 'answer' | 'api';
  readonly call: string;
  readonly sent: Json;
  readonly status?: number;
  readonly headers: Record<string, string>;
  readonly arrived: unknown;
}

/** The only folder that a recorder has made in this one. */
export function readRecording(folder: string): readonly Recorded[] {
  const lines = readFileSync(join(folder, 'record.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

const POSTS = [
  'chat.postMessage',
  'chat.postEphemeral',
  'chat.update',
  'views.open',
  'views.publish',
];
const isWrite = ({ door, call }: Pick<Recorded, 'door' | 'call'>) =>
  door === 'answer' || POSTS.includes(call) || /^(PATCH|POST|PUT) /.test(call);

/** What tells one message, view or request from another. */
function keyOf({ door, call, sent }: Pick<Recorded, 'door' | 'call' | 'sent'>): string {
  if (door === 'answer') return door;
  const { channel, user, usergroup, ts, thread_ts, view_id } = sent;
  return JSON.stringify([call, channel, user, usergroup, ts, thread_ts, view_id]);
}

/**
 * Runs the bot against what was recorded: the payloads arrive again, at their times, and each call gets the reply that it
 * got then. Records into `into`. Returns the calls for which the recording has no reply.
 */
export async function replay(folder: string, into: string) {
  const entries = readRecording(folder);
  const { prefix, file } = JSON.parse(readFileSync(join(folder, 'signalbox.json'), 'utf8'));
  const server = await startReplies(entries);
  const env = {
    SLACK_BOT_TOKEN: 'xoxb-replayed',
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    SLACK_API_URL: `${server.url}/api/`,
    SLACK_COMMAND_PREFIX: prefix,
    PORT: '0',
    CLOUD_API_URL: server.url,
    CLOUD_API_KEY_ID: 'replayed',
    CLOUD_API_KEY_SECRET: 'replayed',
    ALERTS_API_URL: server.url,
    ALERTS_API_TOKEN: 'replayed',
    DATABASE_URL: 'file::memory:',
    SIGNALBOX_KEY: AUDIT_KEY.toString('base64'),
    SIGNALBOX_RECORD: into,
  };
  const loaded = loadConfig({ env, readFile: () => JSON.stringify(file), commands: commandNames });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const clock = { now: new Date(entries[0]?.at ?? 0) };
  const log = createLog({ level: process.env.TEST_LOG ?? 'silent' });
  const now = () => clock.now;
  const app = await startApp({ config: loaded.config, version: 'test', log, now });
  if (!app.ok) throw new Error(JSON.stringify([app.problems, server.unanswered]));
  const bot = { url: `http://127.0.0.1:${app.port}` };
  try {
    for (const [index, entry] of entries.entries()) {
      if (entry.door !== 'payload') continue;
      await server.reached(index);
      clock.now = new Date(entry.at);
      await send(bot, server.again(entry.arrived) as Json);
    }
    await server.reached(entries.length);
  } finally {
    // A call is recorded with its reply: the last ones are still on their way.
    await app.stop();
  }
  return server.unanswered;
}

async function send(bot: { readonly url: string }, payload: Json) {
  const isEvent = payload.type === 'event_callback';
  const form = payload.command ? { ...payload } : { payload: JSON.stringify(payload) };
  const body = isEvent
    ? JSON.stringify(payload)
    : new URLSearchParams(form as Record<string, string>).toString();
  const type = isEvent ? 'application/json' : FORM;
  await deliver(bot, body, { 'content-type': type, ...signatureOf(body) });
}

/** Slack and both APIs at one URL. */
async function startReplies(entries: readonly Recorded[]) {
  const calls = entries.filter(({ door }) => door !== 'payload');
  /** What the bot made up then, for example the id of a change → what it makes up now. */
  const made = new Map<string, string>();
  const written = new Map<string, number>();
  const asked = new Map<string, number>();
  const unanswered: string[] = [];
  const writesOf = (key: string) => calls.filter((one) => isWrite(one) && keyOf(one) === key);

  const again = (value: unknown): unknown => {
    if (typeof value === 'string') return made.get(value) ?? value;
    if (Array.isArray(value)) return value.map(again);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, inner]) => {
      const content = name === 'response_url' ? `${url}/response` : again(inner);
      return [made.get(name) ?? name, content];
    });
    return Object.fromEntries(fields);
  };

  const learn = (then: unknown, now: unknown): void => {
    if (typeof then === 'string' && typeof now === 'string') {
      if (then !== now) made.set(then, now);
    } else if (typeof then === 'object' && typeof now === 'object' && then && now) {
      for (const [name, value] of Object.entries(then)) learn(value, Reflect.get(now, name));
    }
  };

  /** The reply to the same call when as much was written to that channel. */
  const replyTo = (call: Pick<Recorded, 'door' | 'call' | 'sent'>): Recorded | undefined => {
    const key = keyOf(call);
    if (isWrite(call)) {
      const [done, all] = [written.get(key) ?? 0, writesOf(key)];
      written.set(key, done + 1);
      const then = all[Math.min(done, all.length - 1)];
      if (then && call.door !== 'api') learn(then.sent, call.sent);
      return then;
    }
    const same = calls.filter((one) => keyOf(one) === key);
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    const { channel } = call.sent;
    const before = (one: Recorded) =>
      calls
        .slice(0, calls.indexOf(one))
        .filter((each) => isWrite(each) && each.sent.channel === channel).length;
    if (typeof channel !== 'string') return same[Math.min(turn, same.length - 1)];
    const so_far = [...written].reduce(
      (sum, [name, count]) => sum + (name.includes(channel) ? count : 0),
      0,
    );
    return same.findLast((one) => before(one) <= so_far) ?? same[0];
  };

  const http = createServer(async (request, response) => {
    const call = await callOf(request);
    const then = replyTo(call);
    if (!then) unanswered.push(keyOf(call));
    const body = then ? again(then.arrived) : { ok: false, error: 'not_recorded' };
    const headers = { ...then?.headers, 'content-type': 'application/json' };
    response.writeHead(then?.status ?? 404, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const url = await listening(http);

  /** Waits until all that was written before this entry is written again. */
  const reached = async (index: number) => {
    const wanted = entries.slice(0, index).filter(isWrite).map(keyOf);
    const missing = () => {
      const left = new Map(written);
      return wanted.filter((key) => {
        const count = left.get(key) ?? 0;
        left.set(key, count - 1);
        return count <= 0;
      });
    };
    const until = performance.now() + 10_000;
    while (missing().length > 0 && performance.now() < until) await wait(10);
    if (missing().length > 0) unanswered.push(...missing().map((key) => `not written: ${key}`));
  };
  return { url, unanswered, again, reached };
}

async function callOf(request: IncomingMessage): Promise<Pick<Recorded, 'door' | 'call' | 'sent'>> {
  const body = (await request.toArray()).join('');
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const [, method] = /^\/api\/([\w.]+)$/.exec(pathname) ?? [];
  if (pathname === '/response') return { door: 'answer', call: 'POST', sent: JSON.parse(body) };
  if (!method) {
    const sent = { body: body === '' ? undefined : JSON.parse(body) };
    return { door: 'api', call: `${request.method} ${pathname}`, sent };
  }
  const form = [...new URLSearchParams(body)].map(([name, value]) => [
    name,
    /^(blocks|view)$/.test(name) ? JSON.parse(value) : value,
  ]);
  return { door: 'slack', call: method, sent: Object.fromEntries(form) };
}
